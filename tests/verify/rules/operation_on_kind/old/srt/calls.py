from typing import List, Optional, Tuple


class Window:
    rows: "torch.Tensor"
    parts: "List[torch.Tensor]"
    names: "Optional[str]"
    held: "torch.Tensor"
    table: "List[int]"
    details: "Dict[str, int]"
    two: "torch.Tensor | Tuple[torch.Tensor, torch.Tensor]"
    limit: int = 1
    @property
    def tail(self) -> List[int]: return [1]
    def anchor(self) -> "Optional[str]": return self.names


class Filled:
    size: int = 1
    chart: "Dict[str, int]"
    def grow(self): return self.size


class Crate:
    load: List[int]


def sorts(rows) -> bool: return True


def keeps(rows) -> bool: return True


def digest(rows) -> int: return 1


def gather(rows) -> List[int]: return rows


def halves(rows) -> Optional[Tuple["torch.Tensor", int]]: return rows
