# ruff: noqa: N802, D102 - methods are named after the syntax nodes they walk
"""Statements, in order: each is walked by the module that knows its kind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from sglang_contracts.plugin.walk import assignments as bindings
from sglang_contracts.plugin.walk import if_branches as branches
from sglang_contracts.plugin.walk import loops
from sglang_contracts.plugin.walk import try_and_with as attempts
from sglang_contracts.plugin.walk.conditions import Conditions
from sglang_contracts.plugin.walk.definitions import Definitions

_WALKERS: dict[str, Callable[[Conditions, Any], None]] = {
    "Assign": bindings.walk_assignment,
    "AnnAssign": bindings.walk_annotated,
    "AugAssign": bindings.walk_augmented,
    "Delete": bindings.walk_deletion,
    "For": loops.walk_for,
    "AsyncFor": loops.walk_for,
    "While": loops.walk_while,
    "With": attempts.walk_with,
    "AsyncWith": attempts.walk_with,
    "Try": attempts.walk_try,
    "TryStar": attempts.walk_try,
    "If": branches.walk_if,
    "Assert": branches.walk_assert,
    "Match": branches.walk_match,
}
"""Kind of statement, by the name of its syntax node → what walks it."""


class Statements(Definitions):
    """What statements do."""

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Statements in order; a branch that leaves guards what follows it."""
        outer = self.guard
        before = set(self.scope.names)
        for position, statement in enumerate(body):
            self.next_statement()
            if isinstance(statement, ast.If):
                branches.chain(self, body, position, before)
            self.statement(statement)
        self.guard = outer
        self.next_statement()

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        name = type(node).__name__
        method = getattr(self, "do_" + name, None)
        if method is not None:
            method(node)
            return
        walker = _WALKERS.get(name)
        if walker is not None:
            walker(self, node)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expr(child)
            elif isinstance(child, ast.stmt):
                self.statement(child)

    def assign(self, target: ast.expr, value: int, source: ast.expr | None) -> None:
        """Bind a target."""
        bindings.assign(self, target, value, source)

    def loop_over(self, target: ast.expr, iterable: ast.expr, value: int) -> None:
        """Bind a loop's target to the elements of what it runs over."""
        loops.loop_over(self, target, iterable, value)

    def do_Expr(self, node: ast.Expr) -> None:
        if id(node.value) not in self.docs:
            self.used_at_once(node.value)
            self.expr(node.value)

    def do_Return(self, node: ast.Return) -> None:
        value = self.expr(node.value) if node.value is not None else self.nodes.literal("None")
        if self.scope.function >= 0:
            self.returned(self.scope.function, value)

    def do_Global(self, node: ast.Global) -> None:
        pass
