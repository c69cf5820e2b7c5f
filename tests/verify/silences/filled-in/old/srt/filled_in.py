from dataclasses import dataclass
@dataclass
class Batch:
    size: int = 0
@dataclass
class Plain:
    width: int = 0
