from typing import List, Optional, Tuple


class Held:
    tensor: "torch.Tensor"


class Window:
    rows: "List[torch.Tensor]"
    parts: "List[Optional[str]]"
    names: "str | List[str]"
    held: "Held"
    table: "Optional[Dict[str, int]]"
    details: "Held"
    two: "torch.Tensor"
    limit: Optional[int] = None
    @property
    def tail(self) -> "array[int]": return self.rows
    def anchor(self) -> "tuple[str, str]": return (self.names, self.names)


class Filled:
    size: Optional[int] = None
    def __init__(self):
        self.chart = {'a': 1}
    def grow(self):
        if self.size is None:
            self.size = 1
        return self.size


class Box:
    value: int = 0


class Crate:
    load: Optional[Box] = None
    def unwrap_fields(self): self.load = self.load.value


def sorts(rows) -> None: return None


def keeps(rows) -> bool: return True


def digest(rows) -> Tuple[int, int]: return (1, 1)


def gather(rows) -> None: return None


def halves(rows) -> Optional[Tuple[int, int]]: return rows
