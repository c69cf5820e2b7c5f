"""What the invariant language allows: every node of an expression is held against a whitelist."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from sglang_contracts.errors import nearest

MAX_TEXT = 500
"""Longest expression, in characters."""
MAX_DEPTH = 24
"""Deepest nesting."""
MAX_STEPS = 200_000
"""Steps (nodes walked and elements looked at) before evaluation gives up."""
MAX_INTEGER = 2**63
"""Integers must stay below it in size."""


class ExpressionError(ValueError):
    """An expression that is not in the language, or cannot be worked out.

    Args:
        message: What is wrong.
        text: The offending part.
        hint: The nearest valid spelling, or what is allowed.
    """

    def __init__(self, message: str, text: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.hint = hint


def bounded(value: int) -> int:
    """An integer that is small enough for the language.

    Raises:
        ExpressionError: It is not.
    """
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise ExpressionError("integer too large")
    return value


_BINARY: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_COMPARE: tuple[type[ast.cmpop], ...] = (
    ast.Eq,
    ast.NotEq,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
    ast.In,
    ast.NotIn,
    ast.Is,
    ast.IsNot,
)
_ALLOWED = "allowed: names, integers, + - * // %, comparisons, and/or/not, lists, calls of "


class Whitelist:
    """Holds one expression against the whitelist, and collects the names that it reads.

    Args:
        text: The expression, as written.
        functions: Names of the functions of the language.
    """

    def __init__(self, text: str, functions: Collection[str]) -> None:
        self._text = text
        self._functions = functions
        self.names: set[str] = set()

    def _refuse(self, node: ast.AST, what: str, hint: str = "") -> ExpressionError:
        part = ast.get_source_segment(self._text.strip(), node) or self._text
        return ExpressionError(what, part, hint or _ALLOWED + ", ".join(sorted(self._functions)))

    def check(self, node: ast.expr, bound: frozenset[str], depth: int) -> None:
        """Check a node and all below it.

        Args:
            node: The node.
            bound: Names that a loop around it binds.
            depth: How many nodes are around it.

        Raises:
            ExpressionError: It is not in the language.
        """
        if depth > MAX_DEPTH:
            raise self._refuse(node, f"nested deeper than {MAX_DEPTH}")
        name = dotted(node)
        if name is not None:
            if name.partition(".")[0] not in bound:
                self.names.add(name)
            elif "." in name:
                raise self._refuse(node, "a bound name has no attributes")
            return
        for child in self._children(node, bound):
            self.check(child, bound, depth + 1)

    def _children(self, node: ast.expr, bound: frozenset[str]) -> Sequence[ast.expr]:
        if isinstance(node, ast.Constant):
            self._constant(node)
            return ()
        if isinstance(node, ast.BinOp) and isinstance(node.op, _BINARY):
            return (node.left, node.right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            return (node.operand,)
        if isinstance(node, ast.BoolOp):
            return node.values
        if isinstance(node, ast.Compare) and all(isinstance(op, _COMPARE) for op in node.ops):
            return (node.left, *node.comparators)
        if isinstance(node, ast.IfExp):
            return (node.test, node.body, node.orelse)
        if isinstance(node, ast.List | ast.Tuple):
            return node.elts
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Call):
            return self._call(node, bound)
        raise self._refuse(node, f"{_describe(node)} is not in the language")

    def _constant(self, node: ast.Constant) -> None:
        value = node.value
        if value is None or isinstance(value, bool | str):
            return
        if isinstance(value, int):
            bounded(value)
            return
        raise self._refuse(node, f"a {type(value).__name__} is not in the language")

    def _subscript(self, node: ast.Subscript) -> Sequence[ast.expr]:
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                raise self._refuse(node, "a slice with a step is not in the language")
            ends = (node.slice.lower, node.slice.upper)
            return (node.value, *(end for end in ends if end is not None))
        return (node.value, node.slice)

    def _call(self, node: ast.Call, bound: frozenset[str]) -> Sequence[ast.expr]:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name not in self._functions:
            shown = ast.get_source_segment(self._text.strip(), node.func) or "?"
            close = nearest(shown, self._functions, 1)
            hint = f"did you mean {close[0]}?" if close else ""
            raise self._refuse(node, f"function {shown!r} is not in the language", hint)
        if node.keywords:
            raise self._refuse(node, "keyword arguments are not in the language")
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
            self._comprehension(node.args[0], bound)
            return ()
        return node.args

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp, bound: frozenset[str]) -> None:
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise self._refuse(node, "only one 'for' is in the language", "use zip(…)")
        loop = node.generators[0]
        names = targets(loop.target)
        if names is None:
            raise self._refuse(node, "'for' binds names only")
        self.check(loop.iter, bound, 1)
        inner = bound | frozenset(names)
        for part in (node.elt, *loop.ifs):
            self.check(part, inner, 1)


def dotted(node: ast.AST) -> str | None:
    """``a.b.c`` of a name or a chain of attributes; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def targets(node: ast.expr) -> tuple[str, ...] | None:
    """The names that a loop binds; None where it binds anything else."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Tuple) and all(isinstance(each, ast.Name) for each in node.elts):
        return tuple(each.id for each in node.elts if isinstance(each, ast.Name))
    return None


def _describe(node: ast.AST) -> str:
    return {
        "Lambda": "a lambda",
        "Attribute": "an attribute of a computed value",
        "GeneratorExp": "a bare generator",
        "ListComp": "a list comprehension outside a call",
        "BinOp": "this operator",
        "UnaryOp": "this operator",
        "JoinedStr": "an f-string",
        "NamedExpr": "an assignment",
    }.get(type(node).__name__, f"'{type(node).__name__}'")
