"""Whether a value that was seen is as a clause states it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from sglang_contracts.contract import Clause, Returns, variant
from sglang_contracts.contract.dimensions import ShapeError, unify
from sglang_contracts.contract.expression import ExpressionError
from sglang_contracts.contract.signature import bare
from sglang_contracts.live.evidence.model import Call, last_name

_BUILTIN = frozenset({"int", "bool", "float", "str", "list", "tuple", "dict", "set"})
_ALSO = {"bool": {"int"}, "int": {"float"}}
"""Type of a value → further types it counts as."""
_OPEN = {
    "Sequence": {"list", "tuple"},
    "Iterable": {"list", "tuple", "set", "dict"},
    "Collection": {"list", "tuple", "set", "dict"},
    "Mapping": {"dict"},
    "Callable": {"callable"},
}


def states_value(clause: Clause, release: str) -> bool:
    """Whether a clause says something of the value: then only a value confirms it."""
    of_tensor = (variant(each, release) for each in (clause.dtype, clause.shape))
    stated = (*of_tensor, variant(clause.type, release))
    return bool(clause.device) or any(each is not None for each in stated)


def mismatch(
    clause: Clause, value: Mapping[str, Any], release: str, dims: Mapping[str, int]
) -> str:
    """How a described value differs from what a clause states; empty where it does not.

    Args:
        clause: States dtype, shape or type, each for some releases.
        value: As the tracer describes it.
        release: Picks among the clause's variants.
        dims: Dimensions whose sizes are known.
    """
    wrong = _tensor(variant(clause.dtype, release), variant(clause.shape, release), value, dims)
    wanted = variant(clause.type, release)
    if not wrong and wanted and fits(wanted, value) is False:
        return f"{_named(value)}, stated {wanted}"
    if not wrong and clause.device == "host" and value.get("device", "cpu") != "cpu":
        return f"on {value['device']}, stated host"  # in a run without a card, compute is cpu too
    return wrong


def proven(clause: Clause, value: Mapping[str, Any], release: str) -> bool:
    """Whether all that a clause states of the value can be read off this one.

    A type is proven by a value of that type; where the class's name is another one, as of a
    subclass, nothing is known.
    """
    wanted = variant(clause.type, release)
    return not wanted or fits(wanted, value) is True


def returned(clause: Clause, call: Call, release: str, dims: Mapping[str, int]) -> tuple[bool, str]:
    """Whether a call's result proves what a clause states of it, and how it differs.

    Returns:
        False and an empty text: nothing is stated of it, or nothing was returned.
    """
    stated = variant(clause.returns, release)
    value = call.returns
    if stated is None or value["type"] == "none":
        return False, ""
    if stated.arity and value.get("length") != stated.arity:
        return True, f"returned {_named(value)}, stated {stated.arity} values"
    dtypes = tuple(
        _of_argument(clause, call, release, text) if "." in text else text for text in stated.dtype
    )
    if "" in dtypes:
        return False, ""
    wrong = _tensor(dtypes, stated.shape, value, dims)
    if not wrong and not stated.dtype and stated.type and fits(stated.type, value) is False:
        wrong = f"{_named(value)}, stated {stated.type}"
    return True, f"returned {wrong}" if wrong else ""


def states_result(returns: Returns | None) -> bool:
    """Whether a clause says something of what a call gives back."""
    return returns is not None and bool(
        returns.dtype or returns.shape is not None or returns.arity or returns.type
    )


def _of_argument(clause: Clause, call: Call, release: str, text: str) -> str:
    """``q.dtype``: the element type of that argument; empty where it cannot be told."""
    name, _, what = text.partition(".")
    parameters = [bare(each) for each in variant(clause.parameters, release) or ()]
    value = call.kwargs.get(name)
    if value is None and name in parameters and parameters.index(name) < len(call.args):
        value = call.args[parameters.index(name)]
    return str((value or {}).get(what, ""))


def _tensor(
    dtypes: tuple[str, ...] | None,
    shape: tuple[str, ...] | None,
    value: Mapping[str, Any],
    dims: Mapping[str, int],
) -> str:
    if dtypes and value.get("dtype", "") not in dtypes:
        return f"dtype {value.get('dtype', value['type'])}, stated {' or '.join(dtypes)}"
    if shape is not None and "shape" in value:
        try:
            unify(shape, value["shape"], dims)
        except (ShapeError, ExpressionError) as error:
            return str(error)
    return ""


def _named(value: Mapping[str, Any]) -> str:
    return str(value.get("class", value["type"]))


def fits(wanted: str, value: Mapping[str, Any]) -> bool | None:
    """Whether a described value is of a type; None where that cannot be told.

    Args:
        wanted: A type as Python writes it (``Optional[List[int]]``), or in words.
        value: As the tracer describes it.
    """
    try:
        return _fits(ast.parse(wanted, mode="eval").body, value)
    except SyntaxError:
        return None  # in words


def _fits(node: ast.expr, value: Mapping[str, Any]) -> bool | None:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return fits(node.value, value)
        return value["type"] == "none" if node.value is None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _any(_fits(node.left, value), _fits(node.right, value))
    if isinstance(node, ast.Subscript):
        name = _last(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Optional":
            return True if value["type"] == "none" else _fits(inner[0], value)
        if name == "Union":
            return _any(*(_fits(each, value) for each in inner))
        if name == "ClassVar":
            return _fits(inner[0], value)
        whole = _is_a(name, value)
        if whole and name.lower() in ("list", "sequence"):
            return _elements(inner[0], value)
        return whole
    return _is_a(_last(node), value)


def _elements(node: ast.expr, value: Mapping[str, Any]) -> bool | None:
    if value.get("values"):
        first = value["values"][0]
        return _fits(node, {"type": type(first).__name__})
    return _fits(node, value["items"]) if "items" in value else True


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_a(name: str, value: Mapping[str, Any]) -> bool | None:
    found = value["type"]
    if name in ("Any", "object", "any"):
        return True
    if name in _OPEN:
        return True if found in _OPEN[name] else None
    lower = name if name in _BUILTIN else name.lower()
    if lower in _BUILTIN:
        if found in _BUILTIN:
            return bool(found == lower or lower in _ALSO.get(found, ()))
        return False if found in ("none", "tensor", "dtype", "enum") else None
    if name in ("Tensor", "dtype"):
        return bool(found == name.lower())
    if "class" in value:
        return True if name in (last_name(value["class"]), *value.get("bases", ())) else None
    return False if found in ("none", "tensor", "dtype") else None


def _any(*answers: bool | None) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False
