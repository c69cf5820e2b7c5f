import dataclasses
import enum
from typing import List, Optional


@dataclasses.dataclass
class Batch:
    kept: int
    lost_field: int
    nsa_total_tokens: Optional[List[int]] = None
    after: int = 0

    def kept_method(self): return 1
    def lost_method(self): return 1
    def pack_nsa_rows(self, rows, columns): return rows


class Sub(Batch):
    pass


class Phase(enum.Enum):
    ONE = 1
    TWO = 2
    LEFT = 3
