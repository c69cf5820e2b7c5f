from dataclasses import dataclass
from typing import Optional
@dataclass
class Batch:
    size: Optional[int] = None
    def __post_init__(self): self.size = 1
@dataclass
class Plain:
    width: Optional[int] = None
