"""Constants among operands and arguments, which may be versions to compare with."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import UNKNOWN, Number, Param, Text, TupleOf
from sglang_contracts.plugin.walk.state import Walk

LONGEST = 8
"""Parts of a version: of a longer series of numbers each is as good as any other."""
_CHARACTERS = 40
"""Characters of a constant argument that are kept."""


def operand(walk: Walk, node: ast.expr) -> int:
    """A side of a comparison, with the constants in it."""
    match node:
        case ast.Constant(value=bool() | None):
            return walk.expr(node)
        case ast.Constant(value=str(text)):
            return walk.nodes.add(Text(text))
        case ast.Constant(value=int(number)):
            return walk.nodes.add(Number(number))
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if len(elements) <= LONGEST:
            return walk.nodes.add(TupleOf(tuple(operand(walk, each) for each in elements)))
        case ast.Name(id=name):
            held = walk.scope.constant(name)
            if isinstance(held, (ast.Constant, ast.Tuple, ast.List)):
                return operand(walk, held)
            return walk.expr(node) or star(walk, name)
    return walk.expr(node)


def star(walk: Walk, name: str) -> int:
    """What ``*name`` of the present function takes."""
    function = walk.scope.function
    if function >= 0:
        for position, each in enumerate(walk.file.functions[function].parameters):
            if each.name == name and each.kind == 2:
                return walk.nodes.add(Param(function, position))
    return UNKNOWN


def argument(walk: Walk, node: ast.expr) -> int:
    """An argument of a call: a short constant stays what it is."""
    value = walk.expr(node)
    constant = walk.scope.constant(node.id) if isinstance(node, ast.Name) else node
    if isinstance(constant, ast.Constant):
        text = constant.value
        if (isinstance(text, str) and len(text) <= _CHARACTERS) or (
            isinstance(text, int) and not isinstance(text, bool)
        ):
            return operand(walk, constant)
    return value
