"""Comprehensions: a scope of their own, their targets, conditions and results."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import DictOf, ListOf
from sglang_contracts.plugin.walk import (
    conditions,
    loop_targets,
    name_membership,
    version_comparisons,
)
from sglang_contracts.plugin.walk.scope import Scope
from sglang_contracts.plugin.walk.state import Walk


def comprehension(walk: Walk, node: ast.expr, results: Sequence[ast.expr]) -> list[int]:
    """Walk a comprehension in a scope of its own."""
    outer = walk.scope
    inner = Scope(outer, outer.function, outer.owner)
    inner.narrowed = dict(outer.narrowed)
    walk.scope = inner
    guard, state = walk.guard, walk.state
    walk.moved()
    for generator in node.generators:  # type: ignore[attr-defined]
        value = walk.expr(generator.iter)
        loop_targets.loop_over(walk, generator.target, generator.iter, value)
        for test in generator.ifs:
            walk.expr(test)
            condition = conditions.condition(walk, test)
            if condition:
                walk.guard = walk.where(
                    walk.guard, kind="if", condition=condition, line=node.lineno
                )
            conditions.narrow(walk, test, True)
    values = [walk.expr(each) for each in results]
    walk.guard, walk.state = guard, state
    walk.scope = outer
    return values


def list_comp_value(walk: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> int:
    """The value of an ``ast.ListComp``."""
    numbers = version_comparisons.numbers(walk, node)
    if numbers:
        return numbers
    value = walk.nodes.add(ListOf(comprehension(walk, node, [node.elt])[0]))
    return name_membership.listed(walk, node) or value


def dict_comp_value(walk: Walk, node: ast.DictComp) -> int:
    """The value of an ``ast.DictComp``."""
    return walk.nodes.add(DictOf(comprehension(walk, node, [node.key, node.value])[1]))
