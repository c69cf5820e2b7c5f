"""The node table of one file: equal expressions are one node."""

from __future__ import annotations

from collections.abc import Iterable

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Iter,
    ListOf,
    Literal,
    Node,
    OneOf,
    TupleOf,
    Unknown,
    Unpack,
)

_MOST_FORMS = 12
"""What may be one of more than so many values is as good as unknown."""


class Nodes:
    """Interns symbolic values; see :mod:`sglang_contracts.plugin.ir.nodes` for the operations."""

    def __init__(self) -> None:
        self.table: list[Node] = [Unknown()]
        self._index: dict[Node, int] = {Unknown(): UNKNOWN}

    def add(self, node: Node) -> int:
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
            for each in node.values if type(node) is OneOf else (value,):
                flat[each] = None
        if not flat:
            return UNKNOWN
        if len(flat) == 1:
            return next(iter(flat))
        if len(flat) > _MOST_FORMS:
            return UNKNOWN
        return self.add(OneOf(tuple(sorted(flat))))

    def part(self, value: int, position: int, count: int) -> int:
        """One of several targets: the very part where a tuple is shown, or ``zip`` made one."""
        held = self.table[value]
        if type(held) is Iter:
            listed = self.table[held.base]
            if type(listed) is ListOf:
                held = self.table[listed.element]
        if type(held) is TupleOf and len(held.elements) == count:
            element = held.elements[position]
            if element != UNKNOWN:
                return element
        return self.add(Unpack(value, position, count))

    def literal(self, kind: str) -> int:
        """A value of a builtin type."""
        return self.add(Literal(kind))
