"""Kinds of statements, each with the function that walks it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

from sglang_contracts.plugin.walk import (
    assignments,
    call_arguments,
    definitions,
    if_branches,
    loops,
    try_and_with,
)
from sglang_contracts.plugin.walk.state import Walk


def walk_expression(walk: Walk, node: ast.Expr) -> None:
    """Walk an ``ast.Expr``."""
    if id(node.value) not in walk.docs:
        walk.used_at_once(node.value)
        walk.expr(node.value)


def walk_return(walk: Walk, node: ast.Return) -> None:
    """Walk an ``ast.Return``."""
    value = walk.expr(node.value) if node.value is not None else walk.nodes.literal("None")
    if walk.scope.function >= 0:
        walk.returned(walk.scope.function, value)
        keys = call_arguments.returned_keys(walk, node.value)
        walk.file.functions[walk.scope.function].keys.append(keys)


def walk_global(walk: Walk, node: ast.Global) -> None:
    """What the body binds from here on is the module's."""
    walk.scope.globals.update(node.names)


STATEMENTS: dict[type[ast.stmt], Callable[[Walk, Any], None]] = {
    ast.Import: definitions.walk_import,
    ast.ImportFrom: definitions.walk_import_from,
    ast.FunctionDef: definitions.walk_function,
    ast.AsyncFunctionDef: definitions.walk_function,
    ast.ClassDef: definitions.walk_class,
    ast.Assign: assignments.walk_assignment,
    ast.AnnAssign: assignments.walk_annotated,
    ast.AugAssign: assignments.walk_augmented,
    ast.Delete: assignments.walk_deletion,
    ast.For: loops.walk_for,
    ast.AsyncFor: loops.walk_for,
    ast.While: loops.walk_while,
    ast.With: try_and_with.walk_with,
    ast.AsyncWith: try_and_with.walk_with,
    ast.Try: try_and_with.walk_try,
    ast.If: if_branches.walk_if,
    ast.Assert: if_branches.walk_assert,
    ast.Match: if_branches.walk_match,
    ast.Expr: walk_expression,
    ast.Return: walk_return,
    ast.Global: walk_global,
}
"""Kind of statement → what walks it; a kind that is not here is walked child by child."""
if sys.version_info >= (3, 11):
    STATEMENTS[ast.TryStar] = try_and_with.walk_try
