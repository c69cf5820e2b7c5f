"""Loops: what their targets are, and what runs more than once or not at all."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.ir.records import UNKNOWN
from sglang_contracts.plugin.walk.conditions import Conditions


def walk_for(walk: Conditions, node: ast.For | ast.AsyncFor) -> None:
    """The body once, its target an element of what it runs over."""
    value = walk.expr(node.iter)
    loop_over(walk, node.target, node.iter, value)
    group_choice(walk, node)
    walk.loops.append(node)
    branch(walk, node.body)
    walk.loops.pop()
    walk.block(node.orelse)


def loop_over(walk: Conditions, target: ast.expr, iterable: ast.expr, value: int) -> None:
    """Bind a loop's target to the elements of what it runs over."""
    element = walk.nodes.add("iter", value) if value != UNKNOWN else UNKNOWN
    walk.needs(iterable, value, "series")
    items = walk.display(iterable)
    call = iterable.func if isinstance(iterable, ast.Call) else None
    if isinstance(call, ast.Attribute) and call.attr in {"items", "keys", "values"}:
        mapping = walk.display(call.value)
        if isinstance(mapping, ast.Dict):
            keys = [key for key in mapping.keys if key is not None]
            if call.attr == "keys":
                items = ast.copy_location(ast.Tuple(keys, ast.Load()), mapping)
            elif call.attr == "values":
                items = ast.copy_location(ast.Tuple(mapping.values, ast.Load()), mapping)
            elif isinstance(target, ast.Tuple) and len(target.elts) == 2:
                with walk.silently():
                    held = walk.nodes.union(walk.expr(v) for v in mapping.values)
                walk.assign(target.elts[0], walk.nodes.literal("str"), None)
                walk.assign(target.elts[1], held, None)
                choices(walk, target.elts[0], keys)
                choices(walk, target.elts[1], mapping.values)
                return
    if isinstance(items, (ast.Tuple, ast.List, ast.Set)):
        with walk.silently():
            element = walk.nodes.union(walk.expr(each) for each in items.elts)
        walk.assign(target, element, None)
        if isinstance(target, ast.Tuple):
            for position, name in enumerate(target.elts):
                column = [
                    each.elts[position]
                    for each in items.elts
                    if isinstance(each, (ast.Tuple, ast.List)) and len(each.elts) > position
                ]
                if len(column) == len(items.elts):
                    with walk.silently():
                        one = walk.nodes.union(walk.expr(each) for each in column)
                    walk.assign(name, one, None)
                    choices(walk, name, column)
        else:
            choices(walk, target, items.elts, items)
        return
    if isinstance(items, ast.Dict):
        walk.assign(target, walk.nodes.literal("str"), None)
        choices(walk, target, [key for key in items.keys if key is not None])
        return
    walk.assign(target, element, None)


def choices(
    walk: Conditions, target: ast.expr, values: Sequence[ast.expr], shown: ast.expr | None = None
) -> None:
    """A loop variable that runs over constants."""
    if isinstance(target, ast.Name) and values:
        choice = ast.copy_location(ast.Set(list(values)), values[0])
        choice.sglang_choice = True  # type: ignore[attr-defined]
        choice.sglang_group = walk.groups.get(  # type: ignore[attr-defined]
            (shown.lineno, shown.col_offset) if shown is not None else (-1, -1), 0
        )
        walk.scope.constants[target.id] = choice
        walk.moved()


def group_choice(walk: Conditions, node: ast.For | ast.AsyncFor) -> None:
    """A loop over alternatives that stops at the first one: one of them is enough."""
    display = walk.display(node.iter)
    if display is None or not any(
        isinstance(each, (ast.Break, ast.Return)) for each in ast.walk(node)
    ):
        return
    group = walk.groups.get((display.lineno, display.col_offset))
    if group is not None and group not in walk.file.groups:
        walk.file.groups.append(group)


def branch(walk: Conditions, body: Sequence[ast.stmt]) -> None:
    """A body that may or may not run: what it binds is joined with what was there."""
    before = dict(walk.scope.names)
    narrowed = dict(walk.scope.narrowed)
    walk.block(body)
    after = walk.scope.names
    for name, value in before.items():
        other = after.get(name, value)
        if other != value:
            after[name] = walk.both(value, other)
    walk.scope.narrowed = {k: v for k, v in narrowed.items() if walk.scope.narrowed.get(k) == v}


def walk_while(walk: Conditions, node: ast.While) -> None:
    """The body once, under its condition."""
    condition = walk.condition(node.test)
    walk.expr(node.test)
    walk.note_tested(node.test)
    guard = walk.guard
    if condition:
        guard = walk.where(guard, kind="if", condition=condition, line=node.lineno)
    walk.loops.append(node)
    with walk.under(guard):
        branch(walk, node.body)
    walk.loops.pop()
    walk.block(node.orelse)
