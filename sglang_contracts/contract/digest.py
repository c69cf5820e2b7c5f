"""A hash over just the parts of a release that a set of contracts touches.

Two releases with equal digests need no retest against these contracts; certificates are bound to
it. Lines, and members no clause names, do not enter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sglang_contracts.contract.model import Clause, Contract, Kind
from sglang_contracts.contract.signature import canonical

if TYPE_CHECKING:
    from sglang_contracts.surface import Surface

_WITHOUT = frozenset({Kind.INVARIANT, Kind.BEHAVIOUR})


def digest(contracts: Iterable[Contract], surface: Surface) -> str:
    """The digest of one release as seen by these contracts.

    Args:
        contracts: Their ids, clauses and what each clause's symbols resolve to enter.
        surface: The release; its number does not enter.

    Returns:
        64 hexadecimal digits.
    """
    found = hashlib.sha256()
    for contract in sorted(contracts, key=lambda each: each.id):
        for clause in sorted(contract.clauses, key=lambda each: each.id):
            if clause.kind in _WITHOUT:
                text = "in force" if clause.holds_in(surface.release) else ""
            else:
                text = "\n".join(_part(clause, spelling, surface) for spelling in clause.symbols)
            found.update(f"{clause.id}\0{text}\0".encode())
    return found.hexdigest()


def _part(clause: Clause, spelling: str, surface: Surface) -> str:
    if clause.kind is Kind.FLAG:
        flag = surface.flags().get(spelling.partition(":")[2])
        return repr(flag)
    if clause.kind is Kind.FLAG_VALUE:
        name, _, value = spelling.partition(":")[2].partition("(")
        flag = surface.flags().get(name)
        return repr(flag is not None and value.rstrip(")") in flag.choices)
    if clause.kind is Kind.ENVIRONMENT:
        return repr(surface.variable(spelling.partition(":")[2]))
    if clause.kind is Kind.OBLIGATION:
        read = sorted(
            module
            for receiver in clause.receivers
            for module in surface.readers(receiver).get(clause.name, ())
        )
        return " ".join(read)
    return _symbol(spelling, surface)


def _symbol(spelling: str, surface: Surface) -> str:
    from sglang_contracts.surface.model import Attribute, Class, Function, Value

    module, _, qual = spelling.partition(":")
    qual, _, key = qual.partition("[")
    symbol = surface.find(module, qual)
    if symbol is None:
        return ""
    node = symbol.node
    head = f"{symbol.name} {symbol.kind}"
    if isinstance(node, Function):
        return f"{head} {canonical(node.parameters)} {node.returns} {int(node.role)}"
    if isinstance(node, Class):
        return f"{head} {node.bases} {int(node.kind)}"
    if isinstance(node, Value | Attribute):
        if key:
            return f"{head} {key.rstrip(']').strip(chr(34)) in node.keys}"
        return f"{head} {node.annotation} {node.value}"
    return head
