"""The node table of one file: equal expressions are one node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sglang_contracts.plugin.ir.records import UNKNOWN


class Nodes:
    """Interns symbolic values; see :mod:`sglang_contracts.plugin.ir.records` for the operations."""

    def __init__(self) -> None:
        self.table: list[Any] = [("unknown",)]
        self._index: dict[tuple[Any, ...], int] = {("unknown",): UNKNOWN}

    def add(self, *node: Any) -> int:
        """The index of a node; made if it is new."""
        index = self._index.get(node)
        if index is None:
            index = self._index[node] = len(self.table)
            self.table.append(node)
        return index

    def union(self, values: Iterable[int]) -> int:
        """One of these; a single one stands for itself."""
        flat: dict[int, None] = {}
        for value in values:
            node = self.table[value]
            for each in node[1:] if node[0] == "union" else (value,):
                flat[each] = None
        if not flat:
            return UNKNOWN
        if len(flat) == 1:
            return next(iter(flat))
        if len(flat) > 12:  # what has so many forms is as good as unknown
            return UNKNOWN
        return self.add("union", *sorted(flat))

    def part(self, value: int, position: int, count: int) -> int:
        """One of several targets: the very part where a tuple is shown, or ``zip`` made one."""
        held = self.table[value]
        if held[0] == "iter" and self.table[held[1]][0] == "list":
            held = self.table[self.table[held[1]][1]]
        if held[0] == "tuple" and len(held) - 1 == count and held[position + 1] != UNKNOWN:
            return int(held[position + 1])
        return self.add("unpack", value, position, count)

    def literal(self, kind: str) -> int:
        """A value of a builtin type."""
        return self.add("literal", kind)

    def op(self, index: int) -> str:
        """The operation of a node."""
        return str(self.table[index][0])
