"""Canonical text of an expression, the same on every supported Python.

:func:`ast.unparse` differs between Python versions (parentheses in tuples, f-strings), and a
surface must be the same bytes whoever records it. Only what stands in annotations, defaults and
bases matters here, so the forms are few; the rest (a comprehension, a lambda) becomes ``…``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
    ast.MatMult: "@",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Not: "not ",
    ast.Invert: "~",
    ast.And: " and ",
    ast.Or: " or ",
    ast.Eq: " == ",
    ast.NotEq: " != ",
    ast.Lt: " < ",
    ast.LtE: " <= ",
    ast.Gt: " > ",
    ast.GtE: " >= ",
    ast.Is: " is ",
    ast.IsNot: " is not ",
    ast.In: " in ",
    ast.NotIn: " not in ",
}
OPAQUE = "…"
"""Stands for an expression whose text says nothing about an interface."""

_DEPTH = 40  # deeper than any annotation; keeps hostile input from exhausting the stack


def text(node: ast.expr | None, limit: int = 0) -> str:
    """Canonical text of ``node``; empty for None; cut to ``limit`` characters, if that is not 0."""
    if node is None:
        return ""
    written = _text(node, 0)
    return written[: limit - 1] + OPAQUE if limit and len(written) > limit else written


def _text(node: ast.AST, depth: int) -> str:
    if depth > _DEPTH:
        return OPAQUE
    write = _WRITERS.get(node.__class__)
    return write(node, depth + 1) if write else OPAQUE


def _join(nodes: list[ast.expr], depth: int) -> str:
    return ", ".join(_text(node, depth) for node in nodes)


def _constant(node: ast.Constant, depth: int) -> str:
    if node.value is Ellipsis:
        return "..."
    if isinstance(node.value, str):
        # repr of a lone surrogate or of characters a newer Unicode calls printable would depend on
        # the interpreter: escape everything beyond ASCII.
        return ascii(node.value)
    return repr(node.value)


def _operand(node: ast.expr, depth: int) -> str:
    inner = _text(node, depth)
    compound = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.UnaryOp)
    return f"({inner})" if isinstance(node, compound) else inner


def _binary(node: ast.BinOp, depth: int) -> str:
    if isinstance(node.op, ast.BitOr):  # a union: no parentheses, so that ``A | B | C`` stays flat
        return f"{_text(node.left, depth)} | {_text(node.right, depth)}"
    operator = _OPERATORS[node.op.__class__]
    return f"{_operand(node.left, depth)} {operator} {_operand(node.right, depth)}"


def _compare(node: ast.Compare, depth: int) -> str:
    parts = [_operand(node.left, depth)]
    for operator, right in zip(node.ops, node.comparators, strict=True):
        parts += [_OPERATORS[operator.__class__], _operand(right, depth)]
    return "".join(parts)


def _call(node: ast.Call, depth: int) -> str:
    arguments = [_text(argument, depth) for argument in node.args]
    for keyword in node.keywords:
        value = _text(keyword.value, depth)
        arguments.append(f"{keyword.arg}={value}" if keyword.arg else f"**{value}")
    return f"{_text(node.func, depth)}({', '.join(arguments)})"


def _dict(node: ast.Dict, depth: int) -> str:
    entries = [
        f"{_text(key, depth)}: {_text(value, depth)}" if key else f"**{_text(value, depth)}"
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return "{" + ", ".join(entries) + "}"


def _subscript(node: ast.Subscript, depth: int) -> str:
    index = node.slice
    inner = _join(index.elts, depth) if isinstance(index, ast.Tuple) else _text(index, depth)
    if isinstance(index, ast.Tuple) and len(index.elts) < 2:
        inner = f"{inner}," if inner else "()"
    return f"{_text(node.value, depth)}[{inner}]"


def _tuple(node: ast.Tuple, depth: int) -> str:
    return f"({_join(node.elts, depth)}{',' if len(node.elts) == 1 else ''})"


def _slice(node: ast.Slice, depth: int) -> str:
    lower = _text(node.lower, depth) if node.lower else ""
    upper = _text(node.upper, depth) if node.upper else ""
    return f"{lower}:{upper}" + (f":{_text(node.step, depth)}" if node.step else "")


def _choice(node: ast.IfExp, depth: int) -> str:
    parts = [_operand(part, depth) for part in (node.body, node.test, node.orelse)]
    return f"{parts[0]} if {parts[1]} else {parts[2]}"


def _unary(node: ast.UnaryOp, depth: int) -> str:
    return _OPERATORS[node.op.__class__] + _operand(node.operand, depth)


def _boolean(node: ast.BoolOp, depth: int) -> str:
    return _OPERATORS[node.op.__class__].join(_operand(value, depth) for value in node.values)


_WRITERS: dict[type[ast.AST], Callable[..., str]] = {
    ast.Name: lambda node, depth: node.id,
    ast.Attribute: lambda node, depth: f"{_text(node.value, depth)}.{node.attr}",
    ast.Constant: _constant,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.List: lambda node, depth: f"[{_join(node.elts, depth)}]",
    ast.Set: lambda node, depth: "{" + _join(node.elts, depth) + "}",
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Call: _call,
    ast.Starred: lambda node, depth: f"*{_text(node.value, depth)}",
    ast.Slice: _slice,
    ast.Await: lambda node, depth: f"await {_text(node.value, depth)}",
}
