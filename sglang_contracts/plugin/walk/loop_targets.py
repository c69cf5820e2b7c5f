"""Targets of loops: what they are bound to, and which constants they run over."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import UNKNOWN, Filled, Iter
from sglang_contracts.plugin.walk import assignments, named_by_variables, string_constants
from sglang_contracts.plugin.walk.state import Walk


def loop_over(walk: Walk, target: ast.expr, iterable: ast.expr, value: int) -> None:
    """Bind a loop's target to the elements of what it runs over."""
    element = walk.nodes.add(Iter(value)) if value != UNKNOWN else UNKNOWN
    walk.needs(iterable, value, "series")
    items = string_constants.display(walk, iterable)
    if type(walk.nodes.table[value]) is Filled and not all_texts(items):
        items = None  # what it was made with is not all that it holds
    table_rows(walk, target, iterable, items)
    if any(isinstance(each, ast.Starred) for each in getattr(items, "elts", ())):
        items = None
    call = iterable.func if isinstance(iterable, ast.Call) else None
    if isinstance(call, ast.Attribute) and call.attr in {"items", "keys", "values"}:
        mapping = string_constants.display(walk, call.value)
        with walk.silently():
            filled = type(walk.nodes.table[walk.expr(call.value)]) is Filled
        if isinstance(mapping, ast.Dict) and None not in mapping.keys and not filled:
            keys = [key for key in mapping.keys if key is not None]
            if call.attr == "keys":
                items = ast.copy_location(ast.Tuple(keys, ast.Load()), mapping)
            elif call.attr == "values":
                items = ast.copy_location(ast.Tuple(mapping.values, ast.Load()), mapping)
            elif isinstance(target, ast.Tuple) and len(target.elts) == 2:
                with walk.silently():
                    held = walk.nodes.union(walk.expr(v) for v in mapping.values)
                assignments.assign(walk, target.elts[0], walk.nodes.literal("str"), None)
                assignments.assign(walk, target.elts[1], held, None)
                choices(walk, target.elts[0], keys)
                choices(walk, target.elts[1], mapping.values)
                return
    if isinstance(items, (ast.Tuple, ast.List, ast.Set)):
        with walk.silently():
            element = walk.nodes.union(walk.expr(each) for each in items.elts)
        assignments.assign(walk, target, element, None)
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
                    assignments.assign(walk, name, one, None)
                    choices(walk, name, column)
        else:
            choices(walk, target, items.elts, items)
        return
    if isinstance(items, ast.Dict):
        assignments.assign(walk, target, walk.nodes.literal("str"), None)
        choices(walk, target, [key for key in items.keys if key is not None])
        return
    assignments.assign(walk, target, element, None)


def table_rows(walk: Walk, target: ast.expr, iterable: ast.expr, shown: ast.expr | None) -> None:
    """Remember which of a loop's targets belong together, where a table shows it."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return
    rows: list[list[ast.expr]] = []
    if isinstance(shown, (ast.Tuple, ast.List)):
        tuples = [each for each in shown.elts if isinstance(each, (ast.Tuple, ast.List))]
        rows = [each.elts for each in tuples] if len(tuples) == len(shown.elts) else []
    match iterable:
        case ast.Call(func=ast.Attribute(value=mapping, attr="items")):
            table = string_constants.display(walk, mapping)
            if not isinstance(table, ast.Dict):
                named_by_variables.rows_of_parameter(walk, target, mapping)
                return
            rows = [
                [key, value]
                for key, value in zip(table.keys, table.values, strict=True)
                if key is not None
            ]
    named_by_variables.rows_of_display(walk, target, rows)


def all_texts(node: ast.expr | None) -> bool:
    """Whether a display holds constant strings only, names of something perhaps."""
    return isinstance(node, (ast.Tuple, ast.List, ast.Set)) and all(
        isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.elts
    )


def choices(
    walk: Walk, target: ast.expr, values: Sequence[ast.expr], shown: ast.expr | None = None
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
