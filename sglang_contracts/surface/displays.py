"""What stands in assignments: pairs of target and value, displays of strings, lazy imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sglang_contracts.surface import expression
from sglang_contracts.surface.model import Import

_KEYS_LIMIT = 2000


def pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """``a, b = x, y`` as two assignments; without a matching display the value is not known."""
    if isinstance(target, (ast.Tuple, ast.List)):
        values: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            values = list(value.elts)
        for inner, inner_value in zip(target.elts, values, strict=True):
            yield from pairs(inner, inner_value)
    elif isinstance(target, ast.Starred):
        yield target.value, None
    else:
        yield target, value


def strings(node: ast.expr | None) -> list[str] | None:
    """The strings of a display, or None where it is no plain one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = strings(node.left), strings(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Call) and node.args and not node.keywords:
        return strings(node.args[0])  # ``set([...])``, ``frozenset({...})``, ``tuple(...)``
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    out = []
    for element in node.elts:
        if not (isinstance(element, ast.Constant) and isinstance(element.value, str)):
            return None
        out.append(element.value)
    return out


def keys_of(node: ast.expr | None) -> tuple[str, ...]:
    """String keys of a dict display, or the strings of another one: what a registry holds."""
    if isinstance(node, ast.Dict):
        keys = [
            key.value
            for key in node.keys
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
        return tuple(keys[:_KEYS_LIMIT])
    return tuple((strings(node) or ())[:_KEYS_LIMIT])


def lazy_import(node: ast.expr | None) -> Import | None:
    """``X = LazyImport("module", "name")``, as :mod:`sglang` itself binds its entry points."""
    if (
        isinstance(node, ast.Call)
        and expression.text(node.func).rpartition(".")[2] == "LazyImport"
        and len(node.args) == 2
        and all(isinstance(argument, ast.Constant) for argument in node.args)
    ):
        module, name = (str(argument.value) for argument in node.args)  # type: ignore[attr-defined]
        return Import(module, name)
    return None


def import_table(node: ast.Dict, own: str) -> dict[str, Import]:
    """A dict of lazily imported names: to a module, or to a module and a name in it."""
    table: dict[str, Import] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            continue
        parts: list[str] = []
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            parts = value.value.split(":")
        elif isinstance(value, (ast.Tuple, ast.List)):
            parts = strings(value) or []
        if not parts or not re.fullmatch(r"\.?[\w.]+", parts[0]):
            continue
        module = parts[0]
        if not module.startswith("sglang"):
            module = f"{own}.{module.lstrip('.')}"
        table[key.value] = Import(module, parts[1] if len(parts) > 1 else key.value, local=True)
    return table


def looked_up(node: ast.Subscript | ast.Call, parameter: str) -> str:
    """``TABLE`` of ``TABLE[name]`` or ``TABLE.get(name)``; empty for anything else."""
    if isinstance(node, ast.Subscript):
        return expression.text(node.value) if expression.text(node.slice) == parameter else ""
    function = node.func
    if (
        isinstance(function, ast.Attribute)
        and function.attr == "get"
        and node.args
        and expression.text(node.args[0]) == parameter
    ):
        return expression.text(function.value)
    return ""
