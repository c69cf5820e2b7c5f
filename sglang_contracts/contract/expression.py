"""The invariant language: small, total, whitelisted. Nothing is ever handed to ``eval``.

An expression is parsed to Python's syntax tree, checked node by node against a whitelist, and
walked by :func:`evaluate` with a budget of steps: every expression ends, and can reach nothing but
the names it is given. A dotted name (``forward_batch.seq_lens``) is one key of the environment,
never an attribute access.

Allowed: integers, ``True``/``False``/``None``, strings, names and dotted names, lists and tuples,
``+ - * // %``, comparisons (chained, ``in``), ``and or not``, ``x if c else y``, an index or slice,
``f(… for a, b in xs if c)``, and calls of :data:`FUNCTIONS`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Union

from sglang_contracts.contract.expression_whitelist import (
    MAX_DEPTH,
    MAX_STEPS,
    MAX_TEXT,
    ExpressionError,
    Whitelist,
    bounded,
    dotted,
    targets,
)
from sglang_contracts.errors import nearest

__all__ = [
    "FUNCTIONS",
    "MAX_STEPS",
    "Expression",
    "ExpressionError",
    "evaluate",
    "holds",
    "parse",
    "plain",
]

Value = Union[int, bool, str, None, "list[Value]"]


class Expression:
    """A checked expression; make one with :func:`parse`.

    Attributes:
        text: As written.
        names: Names (dotted ones whole) it reads, less those it binds itself.
    """

    __slots__ = ("names", "node", "text")

    def __init__(self, text: str, node: ast.expr, names: frozenset[str]) -> None:
        self.text = text
        self.node = node
        self.names = names


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> Expression:
    """Check an expression against the whitelist.

    Raises:
        ExpressionError: It is too long or too deep, does not parse, or uses what is not allowed.
    """
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"longer than {MAX_TEXT} characters", text[:40])
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = getattr(error, "msg", None) or "it does not parse"
        raise ExpressionError(f"not an expression: {message}", text) from None
    checker = Whitelist(text, FUNCTIONS)
    checker.check(node, frozenset(), 0)
    return Expression(text, node, frozenset(checker.names))


def evaluate(expression: str | Expression, environment: Mapping[str, object]) -> Value:
    """Work an expression out.

    Args:
        expression: Text, or what :func:`parse` made of it.
        environment: Name → value: integers, booleans, strings, None, (nested) sequences, or any
            object with ``tolist()`` (a tensor: it is copied to the host). Dotted names are whole
            keys.

    Returns:
        An integer, boolean, string, None or list.

    Raises:
        ExpressionError: An unknown name, values that do not fit an operator, too many steps.
    """
    if isinstance(expression, str):
        expression = parse(expression)
    return _Evaluator(environment).value(expression.node)


def holds(expression: str | Expression, environment: Mapping[str, object]) -> bool:
    """Whether an expression is true. It must give a boolean.

    Raises:
        ExpressionError: As :func:`evaluate`, or where the result is no boolean.
    """
    result = evaluate(expression, environment)
    if not isinstance(result, bool):
        text = expression if isinstance(expression, str) else expression.text
        raise ExpressionError("an invariant must be true or false", text, "compare with ==")
    return result


def plain(value: object, depth: int = 0) -> Value:
    """A value of the language from a Python object or a tensor (anything with ``tolist``).

    Raises:
        ExpressionError: No such value.
    """
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested deeper than {MAX_DEPTH}")
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return bounded(value)
    convert = getattr(value, "tolist", None)
    if callable(convert):
        return plain(convert(), depth + 1)
    if isinstance(value, list | tuple):
        return [plain(each, depth + 1) for each in value]
    raise ExpressionError(f"a {type(value).__name__} is no value of the language")


# --- working it out ------------------------------------------------------------------------------


class _Evaluator:
    def __init__(self, environment: Mapping[str, object]) -> None:
        self._environment = environment
        self._plain: dict[str, Value] = {}
        self._bound: dict[str, Value] = {}
        self._steps = 0

    def spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise ExpressionError(f"more than {MAX_STEPS} steps")

    def value(self, node: ast.expr) -> Value:
        self.spend(1)
        name = dotted(node)
        if name is not None:
            return self._name(name)
        if isinstance(node, ast.Constant):
            return plain(node.value)
        method = getattr(self, f"_{type(node).__name__.lower()}")
        result: Value = method(node)
        if isinstance(result, int):
            bounded(result)
        elif isinstance(result, list):
            self.spend(len(result))
        return result

    def _name(self, name: str) -> Value:
        if name in self._bound:
            return self._bound[name]
        if name not in self._plain:
            if name not in self._environment:
                close = nearest(name, self._environment, 1)
                raise ExpressionError(
                    f"unknown name {name!r}", name, f"did you mean {close[0]}?" if close else ""
                )
            self._plain[name] = plain(self._environment[name])
        return self._plain[name]

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, list) and isinstance(right, list):
            self.spend(len(left) + len(right))
            return left + right
        a, b = _integer(left), _integer(right)
        if isinstance(node.op, ast.Add):
            return a + b
        if isinstance(node.op, ast.Sub):
            return a - b
        if isinstance(node.op, ast.Mult):
            return a * b
        if b == 0:
            raise ExpressionError("division by zero")
        return a // b if isinstance(node.op, ast.FloorDiv) else a % b

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        return not _truth(value) if isinstance(node.op, ast.Not) else -_integer(value)

    def _boolop(self, node: ast.BoolOp) -> Value:
        want = isinstance(node.op, ast.Or)
        return want if any(_truth(self.value(each)) == want for each in node.values) else not want

    def _compare(self, node: ast.Compare) -> Value:
        left = self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            self.spend(_size(left) + _size(right))
            if not _compare(op, left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp) -> Value:
        return self.value(node.body if _truth(self.value(node.test)) else node.orelse)

    def _list(self, node: ast.List | ast.Tuple) -> Value:
        return [self.value(each) for each in node.elts]

    _tuple = _list

    def _subscript(self, node: ast.Subscript) -> Value:
        whole = _sequence(self.value(node.value))
        if isinstance(node.slice, ast.Slice):
            lower, upper = (
                None if end is None else _integer(self.value(end))
                for end in (node.slice.lower, node.slice.upper)
            )
            return whole[lower:upper]
        index = _integer(self.value(node.slice))
        if not -len(whole) <= index < len(whole):
            raise ExpressionError(f"index {index} is outside a list of {len(whole)}")
        return whole[index]

    def _call(self, node: ast.Call) -> Value:
        if not isinstance(node.func, ast.Name):  # parse() lets nothing else through
            raise ExpressionError("not a function of the language")
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
            arguments: list[Value] = [list(self._generated(node.args[0]))]
        else:
            arguments = [self.value(each) for each in node.args]
        self.spend(sum(_size(each) for each in arguments))
        try:
            return FUNCTIONS[node.func.id](self, *arguments)
        except TypeError:
            raise ExpressionError(f"{node.func.id}() does not take these arguments") from None

    def _generated(self, node: ast.GeneratorExp | ast.ListComp) -> Iterator[Value]:
        loop = node.generators[0]
        names = targets(loop.target) or ()
        kept = dict(self._bound)
        for item in _sequence(self.value(loop.iter)):
            self.spend(1)
            if isinstance(loop.target, ast.Name):
                self._bound[names[0]] = item
            else:
                parts = _sequence(item)
                if len(parts) != len(names):
                    raise ExpressionError(f"cannot unpack {len(parts)} to {len(names)} names")
                self._bound.update(zip(names, parts, strict=True))
            if all(_truth(self.value(test)) for test in loop.ifs):
                yield self.value(node.elt)
        self._bound = kept


def _size(value: Value) -> int:
    return 1 + sum(_size(each) for each in value) if isinstance(value, list) else 1


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise ExpressionError(f"an integer is needed here, not {_kind(value)}")
    return int(value)


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ExpressionError(f"true or false is needed here, not {_kind(value)}")
    return value


def _sequence(value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise ExpressionError(f"a list is needed here, not {_kind(value)}")
    return value


def _kind(value: Value) -> str:
    if value is None:
        return "None"
    return {bool: "a boolean", int: "an integer", str: "a string", list: "a list"}[type(value)]


def _compare(op: ast.cmpop, left: Value, right: Value) -> bool:
    if isinstance(op, ast.Eq | ast.Is):
        return left == right
    if isinstance(op, ast.NotEq | ast.IsNot):
        return left != right
    if isinstance(op, ast.In | ast.NotIn):
        return (left in _sequence(right)) == isinstance(op, ast.In)
    a, b = _integer(left), _integer(right)
    if isinstance(op, ast.Lt):
        return a < b
    if isinstance(op, ast.LtE):
        return a <= b
    return a > b if isinstance(op, ast.Gt) else a >= b


def _integers(value: Value) -> list[int]:
    return [_integer(each) for each in _sequence(value)]


def _spread(values: tuple[Value, ...]) -> list[int]:
    found = _integers(values[0]) if len(values) == 1 else [_integer(each) for each in values]
    if not found:
        raise ExpressionError("of an empty list")
    return found


def _sum(_: _Evaluator, values: Value) -> Value:
    return sum(_integers(values))


def _cumsum(_: _Evaluator, values: Value) -> Value:
    total, found = 0, []
    for each in _integers(values):
        total = bounded(total + each)
        found.append(total)
    return list[Value](found)


def _unique(_: _Evaluator, values: Value) -> Value:
    return list[Value](sorted(set(_integers(values))))


def _range(evaluator: _Evaluator, *ends: Value) -> Value:
    if not 1 <= len(ends) <= 2:
        raise ExpressionError("range() takes one or two integers")
    low, high = (0, _integer(ends[0])) if len(ends) == 1 else (_integer(ends[0]), _integer(ends[1]))
    evaluator.spend(max(0, high - low))
    return list[Value](range(low, high))


def _zip(_: _Evaluator, *lists: Value) -> Value:
    parts = [_sequence(each) for each in lists]
    if len({len(each) for each in parts}) > 1:
        raise ExpressionError("zip() of lists of different lengths")
    return [list[Value](row) for row in zip(*parts, strict=True)]


def _flat(evaluator: _Evaluator, values: Value) -> Value:
    found: list[Value] = []
    for each in _sequence(values):
        if isinstance(each, list):
            found.extend(_sequence(_flat(evaluator, each)))
        else:
            found.append(each)
    return found


def _ceil_div(_: _Evaluator, a: Value, b: Value) -> Value:
    if _integer(b) == 0:
        raise ExpressionError("division by zero")
    return -(-_integer(a) // _integer(b))


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "abs": lambda _, value: abs(_integer(value)),
    "all": lambda _, values: all(_truth(each) for each in _sequence(values)),
    "any": lambda _, values: any(_truth(each) for each in _sequence(values)),
    "ceil_div": _ceil_div,
    "cumsum": _cumsum,
    "flat": _flat,
    "len": lambda _, values: len(_sequence(values)),
    "max": lambda _, *values: max(_spread(values)),
    "min": lambda _, *values: min(_spread(values)),
    "range": _range,
    "sorted": lambda _, values: list[Value](sorted(_integers(values))),
    "sum": _sum,
    "unique": _unique,
    "zip": _zip,
}
"""The functions of the language; the first argument is the evaluator, for its budget."""
