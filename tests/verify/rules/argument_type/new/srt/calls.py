from typing import Optional


class Params:
    num: int = 0


class Label:
    text: Optional[str] = None


class Marker:
    def __init__(self, pattern: Optional[str]): self.pattern = pattern


def typed(count: Params): return count


def start(size: int, ranks: Optional[int] = 1, backend: Optional[str] = None): return size
