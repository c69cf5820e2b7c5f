from typing import Optional


class Params:
    num: int = 0


class Label:
    text: Optional[str] = None


class Marker:
    def __init__(self, pattern: bool): self.pattern = pattern


def typed(count: int): return count


def start(size: int, backend: Optional[str] = None): return size
