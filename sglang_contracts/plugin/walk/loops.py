"""Loops: what their targets are, and what runs more than once or not at all."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.walk import conditions, loop_targets, string_constants
from sglang_contracts.plugin.walk.state import Walk


def walk_for(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    """The body once, its target an element of what it runs over."""
    value = walk.expr(node.iter)
    loop_targets.loop_over(walk, node.target, node.iter, value)
    group_choice(walk, node)
    walk.loops.append(node)
    shown = string_constants.display(walk, node.iter)
    if isinstance(shown, (ast.Tuple, ast.List, ast.Set)) and shown.elts:
        walk.block(node.body)  # it runs at least once
    else:
        branch(walk, node.body)
    walk.loops.pop()
    walk.block(node.orelse)


def group_choice(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    """A loop over alternatives that stops at the first one: one of them is enough."""
    display = string_constants.display(walk, node.iter)
    if display is None or not any(
        isinstance(each, (ast.Break, ast.Return)) for each in ast.walk(node)
    ):
        return
    group = walk.groups.get((display.lineno, display.col_offset))
    if group is not None and group not in walk.file.groups:
        walk.file.groups.append(group)


def branch(walk: Walk, body: Sequence[ast.stmt]) -> None:
    """A body that may or may not run: what it binds is joined with what was there."""
    before = dict(walk.scope.names)
    narrowed = dict(walk.scope.narrowed)
    with walk.maybe():
        walk.block(body)
    after = walk.scope.names
    for name, value in before.items():
        other = after.get(name, value)
        if other != value:
            after[name] = walk.both(value, other)
    walk.scope.narrowed = {k: v for k, v in narrowed.items() if walk.scope.narrowed.get(k) == v}


def walk_while(walk: Walk, node: ast.While) -> None:
    """The body once, under its condition."""
    condition = conditions.condition(walk, node.test)
    walk.expr(node.test)
    conditions.note_tested(walk, node.test)
    guard = walk.guard
    if condition:
        guard = walk.where(guard, kind="if", condition=condition, line=node.lineno)
    walk.loops.append(node)
    with walk.under(guard):
        branch(walk, node.body)
    walk.loops.pop()
    walk.block(node.orelse)
