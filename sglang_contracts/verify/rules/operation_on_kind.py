"""What is done with a value, against what upstream's annotation says the value is.

A field that was a list and is a mapping now keeps its name: ``field[0]`` tells. One table says what
each kind of value takes (:func:`takes`); what is not in it is unknown, and nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    DictOf,
    Filled,
    Item,
    Iter,
    ListOf,
    Literal,
    Number,
    OneOf,
    Text,
    TupleOf,
    Unpack,
)
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.walk.except_clauses import (
    ATTRIBUTE_ERRORS,
    CALL_ERRORS,
    KEY_ERRORS,
    UNPACK_ERRORS,
    last_name,
)
from sglang_contracts.surface.model import Attribute, Class, Function, Kind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules import argument_type
from sglang_contracts.verify.rules.argument_type import DTYPE_CHANGED
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.result_form import HAS_NO, RETURN_CHANGED
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.values import builtin_kinds as kinds
from sglang_contracts.verify.values.value import Builtin, DictValue, FunctionRef

KEY, INDEX, UNPACK = "key", "index", "unpack"
"""A subscript that is a text, or an integer; several targets."""
NUMBER, TRUTH = "number", "truth"
"""A number, not ``None``: arithmetic, an order. A value that may be true: a test."""
ARITHMETIC, SERIES, JOIN = "arithmetic", "series", "join"
"""What only numbers (and tensors, sets) do; a loop or ``len``; ``+`` with a list."""
HASHED = "hashed"
"""Elements that a mapping is looked up by: those of a tensor equal no key, not even themselves."""

IT_WAS = "; it was {kind}"
TAKES_NO = {
    KEY: "{kind} takes no text as a key",
    INDEX: "{kind} takes no number as an index",
    UNPACK: "{kind} does not unpack to {count}",
    NUMBER: "{kind} may be None: a number is needed here",
    TRUTH: "{kind} is never true",
    ARITHMETIC: "{kind} is no number",
    SERIES: "{kind} is no series of values",
    JOIN: "{kind} is no list to join with one",
    HASHED: "elements of {kind} are found under no key",
}
"""Need → what is wrong with a kind (and a count)."""

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


def detect_needed(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """What is done with a value, as the use names it."""
    return detect_operation(state, index, file, use, use.name)


def detect_key(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """A subscript that is a text."""
    if use.count:  # its elements are looked for, not its keys
        return UNKNOWN
    return detect_operation(state, index, file, use, KEY)


def detect_unpacked(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """A field unpacked to several targets; results of calls are looked at as such."""
    if type(file.nodes[use.node]) is Call:
        return UNKNOWN
    return detect_operation(state, index, file, use, UNPACK)


def detect_operation(state: Detection, index: int, file: File, use: Use, need: str) -> Outcome:
    """Whether a value takes what is done with it."""
    if need not in TAKES_NO:
        return UNKNOWN  # another cause looks at it
    symbol, annotation = stated_annotation(state, index, use.node)
    if symbol is None or annotation is None:
        return UNKNOWN
    outcome = stated_takes(state, index, file, use, need, symbol, annotation)
    if reasons.LOOKED_AT.holds(use.node in state.questioned[index]):
        broken = outcome.status is Status.BROKEN
        return outcome.silenced(reasons.LOOKED_AT.id) if broken else UNKNOWN
    return outcome


def stated_takes(
    state: Detection,
    index: int,
    file: File,
    use: Use,
    need: str,
    symbol: Symbol,
    annotation: ast.expr,
) -> Outcome:
    """Whether what an annotation says a value is takes what is done with it."""
    if need == HASHED and not mapping(state, index, use.value):
        return UNKNOWN
    if need == NUMBER:
        return number(state, file, use, symbol, annotation)
    if need == TRUTH:  # what is always None is never true
        if kinds.alternatives(annotation):
            return Outcome(Status.OK, "kind", found=(symbol,))
        return broken(symbol, annotation, TRUTH)

    def classes(node: ast.expr) -> Sequence[Symbol]:
        return state.lens.annotation_type(symbol.module, ast.unparse(node))

    answers = [
        alternative_takes(state, each, need, use.count, classes)
        for each in kinds.alternatives(annotation)
    ]
    if not answers and need in (SERIES, ARITHMETIC, JOIN):
        return broken(symbol, annotation, need)  # it gives nothing at all
    if not answers or (None in answers and True not in answers):
        return UNKNOWN
    if True in answers:
        return Outcome(Status.OK, "kind", found=(symbol,))
    refused = broken(symbol, annotation, need, str(use.count))
    if reasons.UNWRAPPED.holds(unwrapped(state, symbol)):
        return refused.silenced(reasons.UNWRAPPED.id)
    return refused


def mapping(state: Detection, index: int, node: int) -> bool:
    """Whether a value is certainly a mapping: a list takes an element of a tensor as index."""
    held = state.evaluator.value(index, node).alternatives
    return bool(held) and all(type(each) is DictValue or each == Builtin("dict") for each in held)


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


def number(state: Detection, file: File, use: Use, symbol: Symbol, annotation: ast.expr) -> Outcome:
    """Arithmetic on a field: a number was there, and now nothing may be, by default."""
    node = symbol.node
    if not isinstance(node, Attribute) or use.node in file.tested:
        return UNKNOWN
    each = kinds.alternatives(annotation)
    if not each or not all(kinds.kind_of(one) in _SCALARS for one in each):
        return UNKNOWN
    if node.value == "None" and kinds.optional(annotation):
        empty = broken(symbol, annotation, NUMBER)
        if reasons.FILLED_IN.holds(filled_in(state, symbol)):
            return empty.silenced(reasons.FILLED_IN.id)
        return empty
    return Outcome(Status.OK, "kind", found=(symbol,))


def filled_in(state: Detection, symbol: Symbol) -> bool:
    """Whether the class of a field sees to it itself, mostly before anybody else reads it."""
    owner, name = symbol.owner, symbol.qual.rsplit(".", 1)[-1]
    if owner is None or state.lens.kind(owner) & Kind.PYDANTIC:
        return False  # a request stays as it came
    return any(
        "__post_init__" in each.node.methods
        or any(name in method.reads for method in each.node.methods.values())
        for each in state.lens.mro(owner)
        if isinstance(each.node, Class)
    )


def unwrapped(state: Detection, symbol: Symbol) -> bool:
    """Whether a field's class has a method that takes it out of what it travels in.

    Its annotation says how it travels (``Optional[PickleWrapper]``), not how it is read.
    """
    owner, name = symbol.owner, symbol.qual.rsplit(".", 1)[-1]
    return owner is not None and any(
        "unwrap" in method and name in record.reads
        for each in state.lens.mro(owner)
        if isinstance(each.node, Class)
        for method, record in each.node.methods.items()
    )


def alternative_takes(
    state: Detection, node: ast.expr, need: str, count: int, classes: Classes
) -> bool | None:
    """Whether one alternative of an annotation takes it."""
    kind = kinds.kind_of(node)
    inner: Sequence[ast.expr] = ()
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if kind == "dict":
        return of_mapping(state, need, inner, classes)
    if kind:
        return takes(kind, need, count, inner)
    found = classes(node)
    if len(found) != 1:
        return None
    return of_class(state, found[0], need, count)


def of_mapping(
    state: Detection, need: str, inner: Sequence[ast.expr], classes: Classes
) -> bool | None:
    """Whether a mapping with keys of a type may have such a key."""
    if need not in (KEY, INDEX):
        return need in (SERIES, HASHED) or (None if need == UNPACK else False)
    key = last_name(inner[0]) if inner else "Any"
    if key in ("str", "int"):
        return (key == "str") == (need == KEY)
    found = classes(inner[0]) if inner else ()
    if len(found) != 1 or not state.lens.kind(found[0]) & Kind.ENUM:
        return None
    plain = "str" if need == KEY else "int"  # a member of such an enum equals its value
    mixed = any(plain in each.lower() for each in state.lens.externals(found[0]))
    return None if mixed else False


def of_class(state: Detection, symbol: Symbol, need: str, count: int) -> bool | None:
    """Whether objects of a class of the release take it."""
    if need in (ARITHMETIC, JOIN, HASHED):
        return None
    kind = state.lens.kind(symbol)
    if need == SERIES and kind & (Kind.TYPED_DICT | Kind.NAMEDTUPLE):
        return True
    if kind & Kind.TYPED_DICT:
        return need == KEY
    if kind & Kind.NAMEDTUPLE:
        if need == UNPACK:
            return len(state.lens.fields(symbol)) == count
        return need == INDEX
    if state.lens.is_open(symbol) or not argument_type.is_record(state, symbol):
        return None
    if need == SERIES and state.lens.member(symbol, "__len__") is not None:
        return True
    method = "__getitem__" if need in (KEY, INDEX) else "__iter__"
    return state.lens.member(symbol, method) is not None


_SHOWN = frozenset({Filled, ListOf, DictOf, TupleOf, Literal, Text, Number})
"""Nodes of values that stand in the plugin's own text."""


def detect_kind(state: Detection, index: int, node: Attr, use: Use) -> Outcome | None:
    """An attribute of a builtin or tensor that upstream's annotation says a thing is.

    Nothing is said (None) where the plugin asks what it has, or hands it to somebody who may.
    """
    base, name = node.base, node.name
    if use.kind is not UseKind.READ:
        return None
    questioned = base in state.questioned[index]
    symbol, annotation = stated_annotation(state, index, base)
    if symbol is None:
        return None
    allowed = kinds.kinds_of(annotation)
    if not allowed:
        return None
    if any(kinds.offers(kind, name) for kind in allowed):
        return None if questioned else Outcome(Status.OK, "kind", found=(symbol,))
    text = ast.unparse(annotation) if annotation is not None else ""
    lacks = Outcome(Status.BROKEN, "kind", symbol.name, owner=symbol, name=name, new=text)
    return lacks.silenced(reasons.LOOKED_AT.id) if reasons.LOOKED_AT.holds(questioned) else lacks


def stated_annotation(
    state: Detection, index: int, node: int
) -> tuple[Symbol | None, ast.expr | None]:
    """The field or function that a node comes from, and what upstream annotates it with."""
    held = state.files[index].nodes[node]
    if type(held) is Attr:
        owner = state.evaluator.value(index, held.base)
        found = state.evaluator.members.look(owner, held.name).found
        if len(found) == 1 and (
            isinstance(found[0].node, Attribute) or found[0].kind == "property"
        ):
            return found[0], kinds.parsed(kinds.stated(found[0]))
    elif type(held) is Call:
        called = state.evaluator.value(index, held.callee).alternatives
        first = called[0] if len(called) == 1 else None
        if type(first) is not FunctionRef or not isinstance(first.symbol.node, Function):
            return None, None
        if not first.symbol.node.role & (Role.ASYNC | Role.GENERATOR):
            return first.symbol, kinds.parsed(kinds.stated(first.symbol))
    elif type(held) is Iter:
        symbol, annotation = stated_annotation(state, index, held.base)
        return symbol, kinds.element(annotation)
    elif type(held) is Item or (type(held) is Unpack and held.count == -1):
        symbol, annotation = stated_annotation(state, index, held.base)
        return symbol, kinds.element(annotation, keyed=True)
    elif type(held) is Unpack:
        symbol, annotation = stated_annotation(state, index, held.base)
        return symbol, kinds.part(annotation, held.position)
    elif type(held) is OneOf:  # ``x.field or []``
        nodes = state.files[index].nodes
        said = [each for each in held.values if type(nodes[each]) not in _SHOWN]
        return stated_annotation(state, index, said[0]) if len(said) == 1 else (None, None)
    return None, None


def judge_kind(judging: Judging, case: Case) -> Finding | None:
    """A field or result that was of a kind with the attribute is of another one now."""
    outcome, good = case.entry.outcome, judging.good(case)
    if outcome.owner is None or case.last_ok is None:
        return None
    # A class of the release that lacks it, or the field (function) that is of a builtin kind.
    lacking = outcome.owner.qual if outcome.what == "attribute" else outcome.new
    stated = good.found[0] if good.what == "kind" else outcome.owner
    returned = isinstance(stated.node, Function)
    old = kinds.stated(stated) if good.what == "kind" else ""
    return judging.finding(
        case,
        rule=RETURN_CHANGED if returned else DTYPE_CHANGED,
        symbol=stated.name,
        suggestion=judging.replacements.contract(stated.name, judging.releases[case.at]),
        role="call" if returned else "read",
        old=old,
        new=lacking,
        detail=HAS_NO.format(kind=lacking, name=outcome.name)
        + (IT_WAS.format(kind=old) if old else ""),
    )


def judge_operation(judging: Judging, case: Case) -> Finding | None:
    """A field or result is of a kind now that does not take what is done with it."""
    outcome, good = case.entry.outcome, judging.good(case)
    if outcome.owner is None or case.last_ok is None or not good.found:
        return None
    returned = isinstance(outcome.owner.node, Function)
    soft = outcome.detail in (NUMBER, TRUTH, HASHED)  # no call of it need fail
    worst = Severity.WARNING if soft else Severity.ERROR
    return judging.finding(
        case,
        rule=RETURN_CHANGED if returned else DTYPE_CHANGED,
        severity=judging.severity(case, worst),
        symbol=outcome.symbol,
        suggestion=judging.replacements.contract(outcome.symbol, judging.releases[case.at]),
        role="call" if returned else "read",
        old=kinds.stated(good.found[0]),
        new=outcome.new,
        detail=TAKES_NO[outcome.detail].format(kind=outcome.new, count=outcome.name),
    )


CAUSE = Cause(
    detects={
        UseKind.NEED: detect_needed,
        UseKind.UNPACK: detect_unpacked,
        UseKind.ITEM: detect_key,
    },
    failures=(
        Failure(
            what="kind",
            says="{name} is of another type",
            catches=ATTRIBUTE_ERRORS,
            judge=judge_kind,
        ),
        Failure(
            what="need",
            says="{name} is of another type",
            catches=CALL_ERRORS | KEY_ERRORS | UNPACK_ERRORS,
            judge=judge_operation,
        ),
    ),
    rules=(),  # a type that changed, or a result
)
