import dataclasses
import enum
from typing import Optional


class Stats:
    def mark(self): return 1


class Sealed:
    data: bytes = b''


@dataclasses.dataclass
class Item:
    stats: Optional[Stats] = None


class Way(enum.Enum):
    FIRST = 1
