"""Symbolic shapes: ``["T", "Hq * Dv"]`` bound against numbers, unified with concrete shapes.

A dimension is a name, an integer, or names and integers with ``+ - * //``. ``...`` as one entry
stands for any number of axes.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence

from sglang_contracts.contract.expression import ExpressionError, evaluate, parse

REST = "..."
"""The entry that stands for any number of axes."""

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


class ShapeError(ValueError):
    """A concrete shape that does not fit a symbolic one; the message says where and why."""


@functools.lru_cache(maxsize=1024)
def dimension_names(text: str) -> frozenset[str]:
    """The names in a dimension.

    Raises:
        ExpressionError: It is no dimension.
    """
    if text == REST:
        return frozenset()
    expression = parse(text)
    for node in ast.walk(expression.node):
        allowed = isinstance(node, ast.Name | ast.Constant | ast.BinOp | ast.expr_context)
        allowed = allowed or isinstance(node, _OPERATORS)
        if isinstance(node, ast.Constant) and type(node.value) is not int:
            allowed = False
        if not allowed:
            raise ExpressionError(
                "not a dimension", text, "write names and integers with + - * //, or '...'"
            )
    return expression.names


def bind(shape: Sequence[str], environment: Mapping[str, int]) -> tuple[int, ...]:
    """The concrete shape, every name given.

    Raises:
        ShapeError: A name without a value, or ``...``.
    """
    found = []
    for text in shape:
        if text == REST:
            raise ShapeError("'...' has no size of its own")
        missing = sorted(dimension_names(text) - environment.keys())
        if missing:
            raise ShapeError(f"dimension {missing[0]} has no value (in '{text}')")
        value = evaluate(text, environment)
        if not isinstance(value, int):  # pragma: no cover - dimension_names() allows no other
            raise ShapeError(f"'{text}' is no number")
        found.append(value)
    return tuple(found)


def unify(
    shape: Sequence[str], concrete: Sequence[int], environment: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Names bound so that the symbolic shape is the concrete one.

    Args:
        shape: Dimensions.
        concrete: Sizes, each at least 0.
        environment: Names bound before; they must keep their values.

    Returns:
        The environment with all names that could be solved (one under ``//`` cannot).

    Raises:
        ShapeError: They do not fit. The message shows both shapes and every binding.
    """
    bound = dict(environment or {})
    left = list(zip(*_aligned(shape, concrete, bound), strict=True))
    progress = True
    while left and progress:
        progress = False
        for pair in list(left):
            text, size = pair
            unknown = dimension_names(text) - bound.keys()
            if len(unknown) > 1 or (unknown and "//" in text):  # many values divide to the same
                continue
            if unknown:
                name = next(iter(unknown))
                solution = _solve(text, name, size, bound)
                if solution is None:
                    raise ShapeError(_mismatch(shape, concrete, bound, text, size))
                bound[name] = solution
            elif evaluate(text, bound) != size:
                raise ShapeError(_mismatch(shape, concrete, bound, text, size))
            left.remove(pair)
            progress = True
    return bound


def _aligned(
    shape: Sequence[str], concrete: Sequence[int], bound: Mapping[str, int]
) -> tuple[list[str], list[int]]:
    texts, sizes = list(shape), list(concrete)
    if texts.count(REST) > 1:
        raise ShapeError("'...' stands more than once")
    if REST in texts:
        at = texts.index(REST)
        after = len(texts) - at - 1
        if len(sizes) >= len(texts) - 1:
            return texts[:at] + texts[at + 1 :], sizes[:at] + sizes[len(sizes) - after :]
    elif len(texts) == len(sizes):
        return texts, sizes
    raise ShapeError(
        f"{len(sizes)} axes {tuple(sizes)}, expected {len(texts)} [{', '.join(texts)}]"
        + _shown(bound)
    )


def _solve(text: str, name: str, size: int, bound: Mapping[str, int]) -> int | None:
    """The value of ``name``, or None: tried by the form ``a * name + b`` from two samples."""

    def at(value: int) -> int:
        result = evaluate(text, {**bound, name: value})
        return result if isinstance(result, int) else 0

    try:
        offset, slope = at(0), at(1) - at(0)
    except ExpressionError:
        return None
    if slope == 0 or (size - offset) % slope:
        return None
    candidate = (size - offset) // slope
    return candidate if candidate >= 0 and at(candidate) == size else None


def _mismatch(
    shape: Sequence[str],
    concrete: Sequence[int],
    bound: Mapping[str, int],
    text: str,
    size: int,
) -> str:
    try:
        wanted = f" = {evaluate(text, bound)}"
    except ExpressionError:
        wanted = ""
    return (
        f"shape {tuple(concrete)} is not [{', '.join(shape)}]: '{text}'{wanted}, found {size}"
        + _shown(bound)
    )


def _shown(bound: Mapping[str, int]) -> str:
    if not bound:
        return ""
    return " with " + ", ".join(f"{name}={value}" for name, value in sorted(bound.items()))
