"""Writes of attributes that a release lacks and that the plugin answers for itself."""

from __future__ import annotations

from collections.abc import Mapping

from sglang_contracts.plugin.ir.nodes import And, Attr, Has, Node, Not, Probe, Truth
from sglang_contracts.plugin.ir.records import File, Use, UseKind

LastReads = Mapping[tuple[int, int], tuple[int, int]]
"""(function, node) → line and column of the last read of it in that function of a file."""


def last_reads(file: File) -> LastReads:
    """The last read of each node in each function of a file."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for use in file.uses:
        if use.kind is UseKind.READ:
            key, place = (use.function, use.node), (use.line, use.column)
            found[key] = max(place, found.get(key, place))
    return found


def compatibility(file: File, use: Use, base: int) -> bool:
    """Whether a write adds a lost name where its successor is there: ``if hasattr(…, new)``."""
    guard = use.guard
    while guard:
        record = file.guards[guard]
        if record.kind == "if" and record.positive:
            held = file.nodes[record.condition]
            if type(held) is Has and held.base == base:
                return True
        guard = record.parent
    return False


def put_in(file: File, use: Use, base: int, name: str) -> bool:
    """Whether an attribute is written just where it was found missing."""
    guard = use.guard
    while guard:
        record = file.guards[guard]
        if record.kind == "handler":
            return True
        if record.kind == "if":
            node, positive = file.nodes[record.condition], record.positive
            while type(node) is Not:
                node, positive = file.nodes[node.condition], not positive
            parts = node.conditions if type(node) is And and positive else ()
            for each in [file.nodes[part] for part in parts] or [node]:
                asked, there = each, positive
                while type(asked) is Not:
                    asked, there = file.nodes[asked.condition], not there
                if not there and asks_for(file, asked, base, name):
                    return True
        guard = record.parent
    value = file.nodes[use.value]
    return type(value) is Probe and file.nodes[value.value] == Attr(base, name)


def read_back(use: Use, last_reads: LastReads) -> bool:
    """Whether a function reads what it has just written to an attribute: it is its own."""
    last = last_reads.get((use.function, use.node))
    return last is not None and last > (use.line, use.column)


def asks_for(file: File, asked: Node, base: int, name: str) -> bool:
    """Whether a condition asks for an attribute: ``hasattr``, or the truth of a ``getattr``."""
    if type(asked) is Truth:
        held = file.nodes[asked.value]
        return type(held) is Probe and file.nodes[held.value] == Attr(base, name)
    return asked == Has(base, name)
