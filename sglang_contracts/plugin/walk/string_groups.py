"""Dotted strings that belong together: alternatives of which one is enough."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk.state import Walk


def same_thing(walk: Walk, node: ast.expr, texts: Sequence[ast.expr]) -> None:
    """Dotted strings that end in one name are one thing in several places: one is enough."""
    last = {
        each.value.replace(":", ".").rsplit(".", 1)[-1]
        for each in texts
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }
    group = walk.groups.get((node.lineno, node.col_offset))
    if len(last) == 1 and group is not None and group not in walk.file.groups:
        walk.file.groups.append(group)


def mark_group(walk: Walk, node: ast.expr, before: int) -> None:
    """The dotted strings of a display belong together."""
    group = walk.groups.setdefault((node.lineno, node.col_offset), len(walk.groups) + 1)
    for use in walk.file.uses[before:]:
        if use.kind is UseKind.DOTTED:
            use.group = group
