"""Results of calls: awaited, unpacked, or read as what they no longer are."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Attr, Call, Unpack
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.walk.except_clauses import ATTRIBUTE_ERRORS, CALL_ERRORS, UNPACK_ERRORS
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import Kind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules import argument_type
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.values import builtin_kinds as kinds
from sglang_contracts.verify.values.value import (
    NONE,
    Alternative,
    Builtin,
    FunctionRef,
    ObjectOf,
    TupleValue,
    Value,
)

RETURN_CHANGED = Rule(
    id="return-changed",
    what="{name}() returns something else",
    fix="take {to}",
    page="result_form.toml",
    severity=Severity.ERROR,
    role="call",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


_OF_TUPLES = frozenset({"count", "index"})
"""Attributes that a tuple has."""

_AWAITABLE = ("Awaitable", "Coroutine", "Future", "Task", "AsyncIter", "AsyncGen", "Any")

HAS_NO = "{kind} has no {name}"
AWAIT_IT = "it is a coroutine: await it"
DO_NOT_AWAIT_IT = "it is no coroutine: do not await it"
RETURNS_WITHOUT = "it returns {kind}, which has no {name}"
TUPLE = "a tuple"
VALUES = "{count} values"


def detect_pair(state: Detection, index: int, node: Attr, use: Use, value: Value) -> Outcome | None:
    """An attribute read off the result of a call that is a tuple of several values."""
    held = state.files[index].nodes[node.base]
    if use.kind is not UseKind.READ or type(held) is not Call or node.name in _OF_TUPLES:
        return None
    if not value.alternatives or any(type(each) is not TupleValue for each in value.alternatives):
        return None
    called = state.evaluator.value(index, held.callee).alternatives
    first = called[0] if len(called) == 1 else None
    if type(first) is not FunctionRef:
        return None
    function, name = first.symbol, node.name
    return Outcome(
        Status.BROKEN, "result", function.name, owner=function, name=name, named=value.named
    )


def detect_awaited(state: Detection, called: Alternative, how: int) -> Outcome | None:
    """A coroutine that is not awaited, or an ``await`` on what is none.

    Args:
        state: What detections share.
        called: What is called.
        how: 1 where the result is awaited, -1 where it is used as it is.
    """
    if type(called) is not FunctionRef:
        return None
    symbol = called.symbol
    node = symbol.node
    if not isinstance(node, Recorded) or node.decorators:
        return None
    if node.role & (Role.GENERATOR | Role.CONTEXT_MANAGER):
        return None
    is_async = bool(node.role & Role.ASYNC)
    # without an annotation a plain function may hand on a coroutine of another's
    plain = bool(node.returns) and not any(each in node.returns for each in _AWAITABLE)
    if (how < 0 and is_async) or (how > 0 and not is_async and plain):
        return Outcome(
            Status.BROKEN,
            "coroutine" if is_async else "no-coroutine",
            symbol.name,
            owner=symbol,
            name=symbol.qual,
        )
    return None


def detect_unpacking(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """The result of a call unpacked to several targets."""
    node = file.nodes[use.node]
    if type(node) is Unpack:
        inner = file.nodes[node.base]
        if type(inner) is Call:
            return unpacked_within(state, index, inner, use)
    if type(node) is not Call:
        return UNKNOWN
    value = state.evaluator.value(index, node.callee)
    if not value.alternatives:
        return UNKNOWN
    wanted = use.count
    results = []
    for each in value.alternatives:
        if type(each) is not FunctionRef or not isinstance(each.symbol.node, Recorded):
            return UNKNOWN
        results.append((each.symbol, lengths(state, each.symbol)))
    for symbol, counts in results:
        if counts is None:
            return UNKNOWN
        if wanted > 0 and wanted in counts:
            return Outcome(Status.OK, found=(symbol,), named=value.named)
        if wanted < 0 and any(each >= -wanted - 1 for each in counts):
            return Outcome(Status.OK, found=(symbol,), named=value.named)
    symbol, counts = results[0]
    return Outcome(
        Status.BROKEN,
        "unpack",
        symbol.name,
        owner=symbol,
        name=str(wanted),
        detail="object" if counts == frozenset({0}) else "length",
        new=",".join(str(each) for each in sorted(counts or ())),
        named=value.named,
    )


def unpacked_within(state: Detection, index: int, call: Call, use: Use) -> Outcome:
    """A part of a result unpacked: ``(a, b), c = f()``."""
    value = state.evaluator.value(index, use.node)
    called = state.evaluator.value(index, call.callee)
    first = called.alternatives[0] if len(called.alternatives) == 1 else None
    if type(first) is not FunctionRef:
        return UNKNOWN
    symbol = first.symbol
    lengths = {len(each.elements) for each in value.alternatives if type(each) is TupleValue}
    if not lengths or len(lengths) != len(value.alternatives) or use.count < 0:
        return UNKNOWN
    if use.count in lengths:
        return Outcome(Status.OK, found=(symbol,), named=called.named)
    return Outcome(
        Status.BROKEN,
        "unpack",
        symbol.name,
        owner=symbol,
        name=str(use.count),
        detail="length",
        new=",".join(map(str, sorted(lengths))),
        named=called.named,
    )


def lengths(state: Detection, symbol: Symbol) -> frozenset[int] | None:
    """How many values a function's result unpacks to; {0}: it does not; None: not known."""
    node = symbol.node
    if not isinstance(node, Recorded) or node.role & (Role.GENERATOR | Role.CONTEXT_MANAGER):
        return None
    if node.decorators and any("contextmanager" in each for each in node.decorators):
        return None
    shown = frozenset(each for each in node.arities if each > 0)
    if node.arities and 0 not in node.arities and shown:
        return shown
    if node.returns:
        typed = state.evaluator.annotations.typed(symbol.module, node.returns)
        found: set[int] = set()
        for each in typed:
            if each == NONE:
                continue
            length = length_of(state, each)
            if length is None:
                return None
            found.add(length)
        return frozenset(found) | shown | taken_as(state, symbol) if found else None
    return None


def length_of(state: Detection, each: Alternative) -> int | None:
    """How many targets one alternative unpacks to; 0: it does not; None: not known."""
    if type(each) is TupleValue:  # ``Tuple[int]`` is mostly meant for a tuple of any length
        return len(each.elements) if len(each.elements) > 1 else None
    if type(each) is Builtin:
        return 0 if each.kind in ("int", "bool", "float") else None
    if type(each) is not ObjectOf:
        return None
    symbol = each.symbol
    if argument_type.is_record(state, symbol):
        open_ended = state.lens.member(symbol, "__iter__") or state.lens.is_open(symbol)
        return None if open_ended else 0
    if state.lens.kind(symbol) & Kind.NAMEDTUPLE:
        return len(state.lens.fields(symbol))
    return None


def taken_as(state: Detection, symbol: Symbol) -> frozenset[int]:
    """To how many targets the release itself unpacks it: annotations are not always kept."""
    name = symbol.qual.rsplit(".", 1)[-1]
    return frozenset(
        call.unpacked
        for _, call in state.lens.callers(name)
        if call.unpacked and goes_by(state, call.receiver, symbol.owner)
    )


def goes_by(state: Detection, receiver: str, owner: Symbol | None) -> bool:
    """Whether an object of a class certainly goes by a name; for a function: no receiver."""
    if owner is None:
        return not receiver
    if receiver in ("self", "super()"):
        return False
    named = state.evaluator.members.known(receiver, None)
    return any(
        type(each) is ObjectOf and owner in state.lens.mro(each.symbol)
        for each in named.alternatives
    )


def judge_awaited(judging: Judging, case: Case) -> Finding | None:
    """A coroutine where there was a result, or the other way round."""
    outcome = case.entry.outcome
    if outcome.owner is None or case.last_ok is None:
        return None
    now = outcome.what == "coroutine"
    return judging.finding(
        case,
        rule=RETURN_CHANGED,
        symbol=outcome.symbol,
        suggestion=judging.replacements.contract(outcome.symbol, judging.releases[case.at]),
        role="call",
        detail=AWAIT_IT if now else DO_NOT_AWAIT_IT,
    )


def judge_result(judging: Judging, case: Case) -> Finding | None:
    """What was an object with attributes is a tuple now."""
    outcome = case.entry.outcome
    if outcome.owner is None:
        return None
    after = judging.catalog.surface(judging.releases[case.at])
    node = outcome.owner.node
    said = judging.replacements.contract(outcome.symbol, judging.releases[case.at])
    return judging.finding(
        case,
        rule=RETURN_CHANGED,
        symbol=outcome.symbol,
        suggestion=said or judging.replacements.of_return(outcome.owner, 0, after),
        role="call",
        detail=RETURNS_WITHOUT.format(
            kind=node.returns if isinstance(node, Recorded) else TUPLE, name=outcome.name
        ),
    )


def judge_unpacking(judging: Judging, case: Case) -> Finding | None:
    """A result that is unpacked to another number of targets than it has."""
    outcome = case.entry.outcome
    if outcome.owner is None:
        return None
    after = judging.catalog.surface(judging.releases[case.at])
    node = outcome.owner.node
    was = judging.good(case).found
    old = kinds.stated(was[0]) if was and isinstance(was[0].node, Recorded) else ""
    return judging.finding(
        case,
        rule=RETURN_CHANGED,
        symbol=outcome.symbol,
        suggestion=judging.replacements.contract(outcome.symbol, judging.releases[case.at])
        or judging.replacements.of_return(outcome.owner, 0, after),
        role="call",
        old=old or VALUES.format(count=outcome.name.lstrip("-")),
        new=(node.returns if isinstance(node, Recorded) else "")
        or VALUES.format(count=outcome.new),
    )


CAUSE = Cause(
    detects={UseKind.UNPACK: detect_unpacking},
    failures=(
        Failure(
            what="coroutine", says="{name}() is a coroutine", catches=NOTHING, judge=judge_awaited
        ),  # made, and never run
        Failure(
            what="no-coroutine",
            says="{name}() is no coroutine",
            catches=CALL_ERRORS,
            judge=judge_awaited,
        ),
        Failure(
            what="result",
            says="{name}() returns something else",
            catches=ATTRIBUTE_ERRORS,
            judge=judge_result,
        ),
        Failure(
            what="unpack",
            says="{name}() returns another number of values",
            catches=UNPACK_ERRORS,
            judge=judge_unpacking,
        ),
    ),
    rules=(RETURN_CHANGED,),
)
