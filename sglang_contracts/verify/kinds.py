"""What kind of builtin an annotation names, and which attributes that kind has.

A field that was a tensor and is a list of tensors now keeps its name; only what is done with it
tells that it is not what the code was written for. Kinds that are not listed are unknown: nothing
is said of them.
"""

from __future__ import annotations

import ast
from collections import deque
from functools import lru_cache

from sglang_contracts.plugin.guards import last_name
from sglang_contracts.surface.model import Attribute, Function
from sglang_contracts.surface.resolve import Symbol

_BUILTINS: dict[str, type] = {
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "deque": deque,
    "str": str,
    "bytes": bytes,
    "int": int,
    "float": float,
    "bool": bool,
}
_NAMES = {
    **{name: name for name in _BUILTINS},
    "List": "list",
    "Dict": "dict",
    "Tuple": "tuple",
    "Set": "set",
    "Deque": "deque",
    "Tensor": "tensor",
}
_INSIDE = frozenset({"Optional", "ClassVar", "Final", "Annotated", "Required", "NotRequired"})
_SHARED = frozenset({"add", "sort", "split", "values"})
"""Attributes of a builtin container or string that ``torch.Tensor`` has as well."""
_OF_BUILTINS = frozenset(
    name for each in (list, dict, set, deque, str) for name in dir(each) if name[:2] != "__"
)


def stated(symbol: Symbol) -> str:
    """What a field is annotated with, or a function returns; empty where nothing is said."""
    match symbol.node:
        case Function(returns=text) | Attribute(annotation=text):
            return text
    return ""


@lru_cache(maxsize=65_536)
def parsed(text: str) -> ast.expr | None:
    """An annotation as an expression, parsed once; None where it is none."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def kinds_of(node: ast.expr | None) -> frozenset[str] | None:
    """Kinds that an annotation allows, ``None`` aside; None where one of them is unknown."""
    match node:
        case ast.Constant(value=None):
            return frozenset()
        case ast.Constant(value=str(text)):
            return kinds_of(parsed(text))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _any_of([left, right])
        case ast.Subscript(value=outer, slice=inner):
            name = last_name(outer)
            arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if name == "Union":
                return _any_of(arguments)
            if name in _INSIDE:
                return kinds_of(arguments[0])
            return kinds_of(outer)
        case ast.Name() | ast.Attribute():
            kind = _NAMES.get(last_name(node))
            return frozenset((kind,)) if kind else None
    return None


def _any_of(nodes: list[ast.expr]) -> frozenset[str] | None:
    found: frozenset[str] = frozenset()
    for node in nodes:
        kinds = kinds_of(node)
        if kinds is None:
            return None
        found |= kinds
    return found


def element(node: ast.expr | None) -> ast.expr | None:
    """The annotation of what iterating over a value of an annotation, or indexing it, gives.

    Unknown (None) where the annotation allows several containers, or says nothing of elements.
    """
    match node:
        case ast.Constant(value=str(text)):
            return element(parsed(text))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _only([left, right])
        case ast.Subscript(value=outer, slice=inner):
            name = last_name(outer)
            arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if name == "Union":
                return _only(arguments)
            if name in _INSIDE:
                return element(arguments[0])
            if _NAMES.get(name) in ("list", "set", "deque"):
                return arguments[0]
    return None


def _only(nodes: list[ast.expr]) -> ast.expr | None:
    """The element of the one alternative that is not ``None``."""
    left = [node for node in nodes if not (isinstance(node, ast.Constant) and node.value is None)]
    return element(left[0]) if len(left) == 1 else None


def offers(kind: str, name: str) -> bool:
    """Whether values of a kind have an attribute."""
    if name.startswith("__"):
        return True
    if kind == "tensor":
        return name not in _OF_BUILTINS or name in _SHARED
    return hasattr(_BUILTINS[kind], name)
