"""Keys of tables: which entry is taken, and that it has to be there."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import And, Attr, Import, Not, Or, Registered
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk import named_by_variables, string_constants
from sglang_contracts.plugin.walk.except_clauses import LISTED_ERRORS
from sglang_contracts.plugin.walk.state import Walk

LISTED = 2
"""The count of a use that looks an element up by its value: it fails with a ``ValueError``."""


def taken(
    walk: Walk, where: ast.AST, base: int, key: ast.expr, count: int = 0, goes: bool = True
) -> None:
    """``del TABLE["key"]``, ``TABLE.pop("key")``, ``CHOICES.remove("key")``.

    Args:
        walk: The walk at hand.
        where: The place of it.
        base: The node of the table.
        key: The key, or the element that is looked for.
        count: What the use counts; see :data:`LISTED`.
        goes: Whether it is taken out: then it may be gone already, where that is caught.
    """
    if not isinstance(walk.nodes.table[base], (Import, Attr)) or (goes and caught(walk)):
        return
    texts = string_constants.texts(walk, key)
    if texts == ["*"]:
        by_parameter(walk, key, base)
    elif "*" not in texts:
        entries(walk, where, base, texts, count)


def taken_by_call(walk: Walk, node: ast.Call, callee: int, name: str) -> None:
    """A method that needs the entry: ``pop`` without a default, ``remove``, ``index``."""
    held = walk.nodes.table[callee]
    if len(node.args) != 1 or node.keywords or type(held) is not Attr:
        return
    if name in ("pop", "remove", "index") and not isinstance(node.args[0], ast.Starred):
        count = 0 if name == "pop" else LISTED
        taken(walk, node, held.base, node.args[0], count, goes=name != "index")


def caught(walk: Walk) -> bool:
    """Whether what stands here stands in a ``try`` that catches that there is no such entry."""
    guard = walk.guard
    while guard:
        record = walk.file.guards[guard]
        if record.kind == "try":
            attempt = walk.file.attempts[record.condition]
            if not attempt.raises and LISTED_ERRORS.intersection(attempt.catches):
                return True
        guard = record.parent
    return False


def by_parameter(walk: Walk, key: ast.expr, base: int) -> None:
    """``TABLE[name]`` in a helper: which key it is, its calls tell."""
    if not isinstance(key, ast.Name) or key.id in walk.looked_for():
        return
    if isinstance(walk.nodes.table[base], (Import, Attr)):
        named_by_variables.named_by_parameter(walk, key, base, UseKind.ITEM)


def entries(walk: Walk, node: ast.AST, base: int, keys: Sequence[str], count: int = 0) -> None:
    """A table read by each of several keys, those aside that are asked for one by one."""
    for key in keys:
        guard = walk.guard
        there = walk.nodes.add(Registered(base, key))
        if len(keys) > 1 and asked_for(walk, there):
            guard = walk.where(guard, kind="if", condition=there, line=getattr(node, "lineno", 1))
        with walk.under(guard):
            walk.use(UseKind.ITEM, base, node, name=key, count=count)


def asked_for(walk: Walk, has: int) -> bool:
    """Whether ``hasattr`` over several names, this among them, guards what stands here."""
    guard = walk.guard
    while guard:
        record = walk.file.guards[guard]
        if record.kind == "if":
            held, positive = walk.nodes.table[record.condition], record.positive
            while type(held) is Not:
                held, positive = walk.nodes.table[held.condition], not positive
            if positive and isinstance(held, (Or, And)) and has in held.conditions:
                return type(held) is Or
        guard = record.parent
    return False
