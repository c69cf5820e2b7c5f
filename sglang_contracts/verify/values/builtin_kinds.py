"""What kind of builtin an annotation names, and which attributes that kind has.

A field that was a tensor and is a list of tensors now keeps its name; only what is done with it
tells that it is not what the code was written for. Kinds that are not listed are unknown: nothing
is said of them.
"""

from __future__ import annotations

import ast
from array import array
from collections import deque
from functools import lru_cache

from sglang_contracts.plugin.walk.except_clauses import last_name
from sglang_contracts.surface.model import Attribute, Function
from sglang_contracts.surface.symbol import Symbol

_BUILTINS: dict[str, type] = {
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "deque": deque,
    "array": array,
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
    name for each in (list, dict, set, deque, array, str) for name in dir(each) if name[:2] != "__"
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
    except (SyntaxError, ValueError, RecursionError):
        return None


def kind_of(node: ast.expr | None) -> str:
    """The kind that one alternative of an annotation names; empty where it is none of the known."""
    match node:
        case ast.Subscript(value=outer):
            return kind_of(outer)
        case ast.Attribute(attr="array"):  # ``np.array``, meant for ``np.ndarray``
            return ""
        case ast.Name() | ast.Attribute():
            return _NAMES.get(last_name(node), "")
    return ""


def alternatives(node: ast.expr | None) -> list[ast.expr]:
    """What an annotation allows, one by one, ``None`` aside."""
    match node:
        case None | ast.Constant(value=None):
            return []
        case ast.Constant(value=str(text)):
            inner = parsed(text)
            return [node] if inner is None else alternatives(inner)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*alternatives(left), *alternatives(right)]
        case ast.Subscript(value=outer, slice=inner):
            arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if last_name(outer) == "Union":
                return [one for each in arguments for one in alternatives(each)]
            if last_name(outer) in _INSIDE:
                return alternatives(arguments[0])
    return [node]


def optional(node: ast.expr | None) -> bool:
    """Whether an annotation allows ``None``."""
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Constant(value=str(text)):
            return optional(parsed(text))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return optional(left) or optional(right)
        case ast.Subscript(value=outer, slice=inner):
            arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            name = last_name(outer)
            if name == "Union":
                return any(optional(each) for each in arguments)
            return name == "Optional" or (name in _INSIDE and optional(arguments[0]))
    return False


def kinds_of(node: ast.expr | None) -> frozenset[str] | None:
    """Kinds that an annotation allows, ``None`` aside; None where one of them is unknown."""
    if node is None:
        return None
    found = frozenset(kind_of(each) for each in alternatives(node))
    return None if "" in found else found


def element(node: ast.expr | None, keyed: bool = False) -> ast.expr | None:
    """The annotation of what iterating over a value of an annotation, or indexing it, gives.

    Unknown (None) where the annotation allows several containers, or says nothing of elements.

    Args:
        node: The annotation.
        keyed: Whether a mapping is asked for what it maps to; else it gives its keys.
    """
    each = alternatives(node)
    if len(each) != 1 or not isinstance(each[0], ast.Subscript):
        return None
    inner = each[0].slice
    arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    kind = kind_of(each[0])
    if kind == "dict" and len(arguments) == 2:
        return arguments[int(keyed)]
    return arguments[0] if kind in ("list", "set", "deque") else None


def part(node: ast.expr | None, place: int) -> ast.expr | None:
    """The annotation of one part of a tuple of known length; None for any other."""
    each = alternatives(node)
    if len(each) != 1 or not isinstance(each[0], ast.Subscript) or kind_of(each[0]) != "tuple":
        return None
    inner = each[0].slice
    parts = inner.elts if isinstance(inner, ast.Tuple) else []
    if any(isinstance(one, ast.Constant) and one.value is Ellipsis for one in parts):
        return None
    return parts[place] if -len(parts) <= place < len(parts) else None


def offers(kind: str, name: str) -> bool:
    """Whether values of a kind have an attribute."""
    if name.startswith("__"):
        return True
    if kind == "tensor":
        return name not in _OF_BUILTINS or name in _SHARED
    return hasattr(_BUILTINS[kind], name)
