"""What is done with a value, against what upstream's annotation says the value is.

A field that was a list and is a mapping now keeps its name: ``field[0]`` tells. One table says what
each kind of value takes (:func:`takes`); what is not in it is unknown, and nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sglang_contracts.plugin.ir.records import File, Use
from sglang_contracts.plugin.walk.except_clauses import last_name
from sglang_contracts.surface.model import Attribute, Class, Kind
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.values import builtin_kinds as kinds
from sglang_contracts.verify.values.value import Builtin, DictValue

if TYPE_CHECKING:
    from sglang_contracts.verify.rules.calling import Calling

KEY, INDEX, UNPACK = "key", "index", "unpack"
"""A subscript that is a text, or an integer; several targets."""
NUMBER, TRUTH = "number", "truth"
"""A number, not ``None``: arithmetic, an order. A value that may be true: a test."""
ARITHMETIC, SERIES, JOIN = "arithmetic", "series", "join"
"""What only numbers (and tensors, sets) do; a loop or ``len``; ``+`` with a list."""
HASHED = "hashed"
"""Elements that a mapping is looked up by: those of a tensor equal no key, not even themselves."""

_SCALARS = frozenset({"int", "float", "bool"})
_HOLDERS = frozenset({"list", "tuple", "set", "deque", "array", "str", "bytes"})
_CALCULATING = _SCALARS | {"tensor", "set"}

Classes = Callable[[ast.expr], Sequence[Symbol]]
"""What an annotation names → classes of the release; none: nothing of the release's."""


def takes(kind: str, need: str, count: int, inner: Sequence[ast.expr]) -> bool:
    """Whether values of a builtin kind (but ``dict``) take what is done with them.

    Args:
        kind: As :func:`.kinds.kind_of` names it.
        need: One of those above, but :data:`NUMBER` and :data:`TRUTH`.
        count: UNPACK: the number of targets; below 0: at least ``-count - 1`` and a rest.
        inner: What stands in the brackets of the annotation.
    """
    if need == ARITHMETIC:
        return kind in _CALCULATING
    if need == JOIN:
        return kind == "list"
    if need == HASHED:
        return kind in _HOLDERS
    if need in (SERIES, KEY) or kind in _SCALARS:
        return need == SERIES and kind not in _SCALARS
    if need == INDEX:
        return kind != "set"
    if kind == "tensor":
        return False  # rows of a tensor are hardly ever taken by name
    if kind == "tuple" and inner and not _open(inner):
        return len(inner) == count if count > 0 else len(inner) >= -count - 1
    return True


def _open(inner: Sequence[ast.expr]) -> bool:
    """Whether a tuple may be of any length: ``tuple[int, ...]``, or ``Tuple[int]``, carelessly."""
    return len(inner) == 1 or any(
        isinstance(each, ast.Constant) and each.value is Ellipsis for each in inner
    )


class Needs:
    """Holds what a plugin does with fields and results against their annotations.

    Args:
        checker: Whose release is looked at.
    """

    def __init__(self, checker: Calling) -> None:
        self.checker = checker
        self.lens = checker.lens

    def outcome(self, index: int, file: File, use: Use, need: str) -> Outcome:
        """How one use fares."""
        symbol, annotation = self.checker.stated(index, use.node)
        if symbol is None or annotation is None or use.node in self.checker.asked[index]:
            return UNKNOWN
        if need == HASHED and not self.mapping(index, use.value):
            return UNKNOWN
        if need == NUMBER:
            return self.number(file, use, symbol, annotation)
        if need == TRUTH:  # what is always None is never true
            if kinds.alternatives(annotation):
                return Outcome(Status.OK, "kind", found=(symbol,))
            return self.broken(symbol, annotation, TRUTH)

        def classes(node: ast.expr) -> Sequence[Symbol]:
            return self.lens.annotation_type(symbol.module, ast.unparse(node))

        answers = [
            self.takes(each, need, use.count, classes) for each in kinds.alternatives(annotation)
        ]
        if not answers and need in (SERIES, ARITHMETIC, JOIN):
            return self.broken(symbol, annotation, need)  # it gives nothing at all
        if not answers or (None in answers and True not in answers):
            return UNKNOWN
        if True in answers:
            return Outcome(Status.OK, "kind", found=(symbol,))
        if self.unwrapped(symbol):
            return UNKNOWN
        return self.broken(symbol, annotation, need, str(use.count))

    def mapping(self, index: int, node: int) -> bool:
        """Whether a value is certainly a mapping: a list takes an element of a tensor as index."""
        held = self.checker.evaluator.value(index, node).alternatives
        return bool(held) and all(
            type(each) is DictValue or each == Builtin("dict") for each in held
        )

    @staticmethod
    def broken(symbol: Symbol, annotation: ast.expr, need: str, count: str = "") -> Outcome:
        """A kind that does not take what is done with it."""
        return Outcome(
            Status.BROKEN,
            "need",
            symbol.name,
            owner=symbol,
            name=count,
            detail=need,
            new=ast.unparse(annotation),
        )

    def number(self, file: File, use: Use, symbol: Symbol, annotation: ast.expr) -> Outcome:
        """Arithmetic on a field: a number was there, and now nothing may be, by default."""
        node = symbol.node
        if not isinstance(node, Attribute) or use.node in file.tested:
            return UNKNOWN
        each = kinds.alternatives(annotation)
        if not each or not all(kinds.kind_of(one) in _SCALARS for one in each):
            return UNKNOWN
        if node.value == "None" and kinds.optional(annotation):
            if self.filled_in(symbol):
                return UNKNOWN
            return self.broken(symbol, annotation, NUMBER)
        return Outcome(Status.OK, "kind", found=(symbol,))

    def filled_in(self, symbol: Symbol) -> bool:
        """Whether the class of a field sees to it itself, mostly before anybody else reads it."""
        owner, name = symbol.owner, symbol.qual.rsplit(".", 1)[-1]
        if owner is None or self.lens.kind(owner) & Kind.PYDANTIC:
            return False  # a request stays as it came
        return any(
            "__post_init__" in each.node.methods
            or any(name in method.reads for method in each.node.methods.values())
            for each in self.lens.mro(owner)
            if isinstance(each.node, Class)
        )

    def unwrapped(self, symbol: Symbol) -> bool:
        """Whether a field's class has a method that takes it out of what it travels in.

        Its annotation says how it travels (``Optional[PickleWrapper]``), not how it is read.
        """
        owner, name = symbol.owner, symbol.qual.rsplit(".", 1)[-1]
        return owner is not None and any(
            "unwrap" in method and name in record.reads
            for each in self.lens.mro(owner)
            if isinstance(each.node, Class)
            for method, record in each.node.methods.items()
        )

    def takes(self, node: ast.expr, need: str, count: int, classes: Classes) -> bool | None:
        """Whether one alternative of an annotation takes it."""
        kind = kinds.kind_of(node)
        inner: Sequence[ast.expr] = ()
        if isinstance(node, ast.Subscript):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if kind == "dict":
            return self.of_mapping(need, inner, classes)
        if kind:
            return takes(kind, need, count, inner)
        found = classes(node)
        if len(found) != 1:
            return None
        return self.of_class(found[0], need, count)

    def of_mapping(self, need: str, inner: Sequence[ast.expr], classes: Classes) -> bool | None:
        """Whether a mapping with keys of a type may have such a key."""
        if need not in (KEY, INDEX):
            return need in (SERIES, HASHED) or (None if need == UNPACK else False)
        key = last_name(inner[0]) if inner else "Any"
        if key in ("str", "int"):
            return (key == "str") == (need == KEY)
        found = classes(inner[0]) if inner else ()
        if len(found) != 1 or not self.lens.kind(found[0]) & Kind.ENUM:
            return None
        plain = "str" if need == KEY else "int"  # a member of such an enum equals its value
        mixed = any(plain in each.lower() for each in self.lens.externals(found[0]))
        return None if mixed else False

    def of_class(self, symbol: Symbol, need: str, count: int) -> bool | None:
        """Whether objects of a class of the release take it."""
        if need in (ARITHMETIC, JOIN, HASHED):
            return None
        kind = self.lens.kind(symbol)
        if need == SERIES and kind & (Kind.TYPED_DICT | Kind.NAMEDTUPLE):
            return True
        if kind & Kind.TYPED_DICT:
            return need == KEY
        if kind & Kind.NAMEDTUPLE:
            if need == UNPACK:
                return len(self.lens.fields(symbol)) == count
            return need == INDEX
        if self.lens.is_open(symbol) or not self.checker.record(symbol):
            return None
        if need == SERIES and self.lens.member(symbol, "__len__") is not None:
            return True
        method = "__getitem__" if need in (KEY, INDEX) else "__iter__"
        return self.lens.member(symbol, method) is not None
