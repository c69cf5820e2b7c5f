"""Recorded expressions as values: defaults, constants, enum members, one-line methods.

The text of an expression is read with ``ast`` and evaluated node by node over a short list of what
is harmless. Nothing is handed to ``eval``. What is not on the list has no value here:
:class:`Unknown` stands in for it, and fails when it is used.
"""

from __future__ import annotations

import ast
import collections
import contextvars
import dataclasses
import enum
import functools
import logging
import operator
import threading
import types
import typing
from collections.abc import Callable
from typing import Any

from sglang_contracts.fakes.errors import FakeError


class NoValueError(Exception):
    """The text tells no value.

    Args:
        of: The expression or name. Most are met by leaving something out: its text is made where
            somebody reads it.
    """

    def __init__(self, of: ast.AST | str) -> None:
        super().__init__(of)
        self.of = of

    def __str__(self) -> str:
        return ast.unparse(self.of) if isinstance(self.of, ast.AST) else self.of


class Unknown:
    """A recorded name whose value the text does not tell: it may be held, not used.

    Args:
        symbol: Full name of what it stands for.
        release: The release that is faked.
        text: The expression, where there is one.
    """

    __slots__ = ("_said",)

    def __init__(self, symbol: str, release: str, text: str = "") -> None:
        detail = f"the value comes from {text!r} at run time" if text else ""
        object.__setattr__(self, "_said", (symbol, release, detail))

    def __repr__(self) -> str:
        return f"<shape of {self._said[0]} of SGLang {self._said[1]}>"

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise FakeError(*self._said)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    __call__ = __getitem__ = __iter__ = __len__ = __bool__ = __contains__ = _refuse
    __add__ = __sub__ = __mul__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __int__ = __float__ = __index__ = __enter__ = __exit__ = __setattr__ = _refuse
    __setitem__ = __delitem__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _refuse
    __and__ = __or__ = __xor__ = __matmul__ = __neg__ = __invert__ = __reversed__ = _refuse


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.LShift: operator.lshift,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_BUILTINS: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(bool, bytes, dict, float, frozenset, int, list, object, range, set, str, tuple, type),
        *(callable, isinstance, len, max, min, sorted, sum),
    )
}
_HARMLESS = frozenset(
    {
        *(id(each) for each in _BUILTINS.values()),
        *(id(each) for each in (enum.auto, dataclasses.field, dataclasses.replace)),
        *(id(each) for each in (collections.defaultdict, collections.OrderedDict)),
        *(id(each) for each in (collections.deque, contextvars.ContextVar, logging.getLogger)),
        *(id(each) for each in (threading.Lock, threading.RLock, types.MappingProxyType)),
        *(id(each) for each in (functools.partial, typing.TypeVar)),
    }
)
_METHODS_OF = (str, bytes, dict, list, tuple, set, frozenset)


@functools.lru_cache(maxsize=4096)  # a release spells the same few defaults thousands of times
def _parsed(text: str) -> ast.expr | None:
    """The expression's tree, which nobody changes; None where it is none."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None


class Evaluator:
    """Evaluates expressions over names that a function looks up.

    Args:
        lookup: A name's value; raises :class:`NoValueError` where it has none.
        callable_too: Says of further callables whether they may be called.
    """

    def __init__(
        self,
        lookup: Callable[[str], Any],
        callable_too: Callable[[Any], bool] = lambda _: False,
    ) -> None:
        self.lookup, self.callable_too = lookup, callable_too

    def __call__(self, text: str, names: dict[str, Any] | None = None) -> Any:
        """The value of an expression.

        Args:
            text: The expression.
            names: Names that come before those of ``lookup``.

        Raises:
            NoValueError: It cannot be told.
        """
        node = _parsed(text)
        if node is None:
            raise NoValueError(text)
        return self._value(node, names or {})

    def _value(self, node: ast.expr, names: dict[str, Any]) -> Any:
        try:
            value = self._node(node, names)
        except (NoValueError, FakeError):
            raise NoValueError(node) from None
        if isinstance(value, Unknown):
            raise NoValueError(node)
        return value

    def _node(self, node: ast.expr, names: dict[str, Any]) -> Any:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise NoValueError(node)
        return method(node, names)

    def _constant(self, node: ast.Constant, names: dict[str, Any]) -> Any:
        del names
        return node.value

    def _name(self, node: ast.Name, names: dict[str, Any]) -> Any:
        if node.id in names:
            return names[node.id]
        return _BUILTINS[node.id] if node.id in _BUILTINS else self.lookup(node.id)

    def _attribute(self, node: ast.Attribute, names: dict[str, Any]) -> Any:
        if node.attr.startswith("__"):
            raise NoValueError(node.attr)
        held = self._value(node.value, names)
        try:
            return getattr(held, node.attr)
        except AttributeError:
            raise NoValueError(node.attr) from None

    def _tuple(self, node: ast.Tuple, names: dict[str, Any]) -> Any:
        return tuple(self._list(node, names))

    def _set(self, node: ast.Set, names: dict[str, Any]) -> Any:
        return set(self._list(node, names))

    def _list(self, node: ast.List | ast.Tuple | ast.Set, names: dict[str, Any]) -> list[Any]:
        out: list[Any] = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                out.extend(self._value(each.value, names))
            else:
                out.append(self._value(each, names))
        return out

    def _dict(self, node: ast.Dict, names: dict[str, Any]) -> Any:
        out: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                out.update(self._value(value, names))
            else:
                out[self._value(key, names)] = self._value(value, names)
        return out

    def _unaryop(self, node: ast.UnaryOp, names: dict[str, Any]) -> Any:
        value = self._value(node.operand, names)
        if isinstance(node.op, ast.Not):
            return not value
        return -value if isinstance(node.op, ast.USub) else +value

    def _binop(self, node: ast.BinOp, names: dict[str, Any]) -> Any:
        apply = _BINARY.get(type(node.op))
        if apply is None:
            raise NoValueError(node)
        try:
            return apply(self._value(node.left, names), self._value(node.right, names))
        except (TypeError, ArithmeticError):
            raise NoValueError(node) from None

    def _boolop(self, node: ast.BoolOp, names: dict[str, Any]) -> Any:
        value: Any = None
        for each in node.values:
            value = self._value(each, names)
            if bool(value) is isinstance(node.op, ast.Or):
                return value
        return value

    def _compare(self, node: ast.Compare, names: dict[str, Any]) -> Any:
        left = self._value(node.left, names)
        for operation, part in zip(node.ops, node.comparators, strict=True):
            right = self._value(part, names)
            if not _COMPARE[type(operation)](left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp, names: dict[str, Any]) -> Any:
        return self._value(node.body if self._value(node.test, names) else node.orelse, names)

    def _subscript(self, node: ast.Subscript, names: dict[str, Any]) -> Any:
        try:
            return self._value(node.value, names)[self._value(node.slice, names)]
        except (LookupError, TypeError):
            raise NoValueError(node) from None

    def _call(self, node: ast.Call, names: dict[str, Any]) -> Any:
        called = self._value(node.func, names)
        bound = getattr(called, "__self__", None)
        if not (
            id(called) in _HARMLESS
            or isinstance(bound, _METHODS_OF)
            or self.callable_too(called)
            or self.callable_too(bound)
        ):
            raise NoValueError(node)
        if any(isinstance(each, ast.Starred) for each in node.args):
            raise NoValueError(node)
        positional = [self._value(each, names) for each in node.args]
        keywords = {each.arg: self._value(each.value, names) for each in node.keywords if each.arg}
        if len(keywords) != len(node.keywords):
            raise NoValueError(node)
        try:
            return called(*positional, **keywords)
        except (TypeError, ValueError):
            raise NoValueError(node) from None
