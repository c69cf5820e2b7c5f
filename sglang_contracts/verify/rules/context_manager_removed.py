"""What a plugin enters by ``with`` is no context manager in a release."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Call
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.walk.except_clauses import ATTRIBUTE_ERRORS, CALL_ERRORS
from sglang_contracts.surface.model import Function, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.values.value import Builtin, FunctionRef, ObjectOf, Value

CONTEXT_MANAGER_REMOVED = Rule(
    id="context-manager-removed",
    what="{name} gives nothing any more that a with statement can enter",
    fix="use {to}",
    page="context_manager_removed.toml",
    severity=Severity.ERROR,
    role="use",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
    otherwise="call it without the with statement, or enter what takes its place",
)

ENTERS = {"entered": "__enter__", "entered-async": "__aenter__"}
"""Need → the method that a ``with`` or ``async with`` statement calls first."""


def detect(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """Whether what a ``with`` statement enters can be entered."""
    method = ENTERS.get(use.name)
    if method is None:
        return UNKNOWN  # another cause looks at it
    value = state.evaluator.value(index, use.node)
    held = file.nodes[use.node]
    if type(held) is Call:
        called = state.evaluator.value(index, held.callee)
        first = called.alternatives[0] if len(called.alternatives) == 1 else None
        if type(first) is FunctionRef:
            enters = function_enters(state, first.symbol, value, method)
            return outcome(first.symbol, enters, called.named)
    if len(value.alternatives) == 1 and type(value.alternatives[0]) is ObjectOf:
        symbol = value.alternatives[0].symbol
        return outcome(symbol, value_enters(state, value, method), value.named)
    return UNKNOWN


def outcome(symbol: Symbol, enters: bool | None, named: str) -> Outcome:
    """What comes of a function or class whose result or instance is entered."""
    if enters is None:
        return UNKNOWN
    if enters:
        return Outcome(Status.OK, found=(symbol,), named=named)
    return Outcome(Status.BROKEN, "enter", symbol.name, owner=symbol, named=named)


def function_enters(state: Detection, symbol: Symbol, value: Value, method: str) -> bool | None:
    """Whether a call of a function gives what can be entered; None where its text does not tell."""
    node = symbol.node
    if not isinstance(node, Function) or node.decorators:
        return None
    if node.role & Role.CONTEXT_MANAGER:
        return (method == "__aenter__") == bool(node.role & Role.ASYNC)
    if node.role & (Role.ABSTRACT | Role.UNIMPLEMENTED | Role.EMPTY):
        return None  # whoever overrides it says what it gives
    if node.role & (Role.GENERATOR | Role.ASYNC):
        return False
    if node.arities and 0 not in node.arities:
        return False  # tuples, or nothing
    return value_enters(state, value, method)


def value_enters(state: Detection, value: Value, method: str) -> bool | None:
    """Whether one alternative of a value can be entered; None where one of them is unknown."""
    found: list[bool] = []
    for each in value.alternatives:
        if type(each) is Builtin:
            found.append(False)
        elif type(each) is not ObjectOf:
            return None
        elif state.lens.member(each.symbol, method) is not None:
            found.append(True)
        elif state.lens.is_open(each.symbol):
            return None
        else:
            found.append(False)
    return any(found) if found else None


def judge(judging: Judging, case: Case) -> Finding | None:
    """What could be entered before, by its own text, and cannot now."""
    outcome = case.entry.outcome
    if case.last_ok is None:
        return None
    new = judging.releases[case.at]
    return judging.finding(
        case,
        rule=CONTEXT_MANAGER_REMOVED,
        symbol=outcome.symbol,
        suggestion=judging.replacements.contract(outcome.symbol, new),
    )


CAUSE = Cause(
    detects={UseKind.NEED: detect},
    failures=(
        Failure(
            what="enter",
            says="{name} is no context manager",
            catches=ATTRIBUTE_ERRORS | CALL_ERRORS,
            judge=judge,
        ),
    ),
    rules=(CONTEXT_MANAGER_REMOVED,),
)
