"""Positional arguments against the parameters at their places.

``release(index, count, self.server_args)`` still binds where the third parameter is another one
now. What an argument is called tells what it was meant for, as long as it is no plain word.
"""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Call
from sglang_contracts.plugin.ir.records import File, Form, Use, UseKind
from sglang_contracts.surface.model import Function, Parameter, ParameterKind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.values import signature_fit
from sglang_contracts.verify.values.value import FunctionRef, is_weak

PARAMETER_REMOVED = Rule(
    id="parameter-removed",
    what="{owner}() takes no {last} any more",
    early="{owner}() takes no {last} yet",
    never="{owner}() takes no {last}",
    whole="{name}() cannot be called in this form",
    fix="pass {to}",
    otherwise="leave it out for these releases",
    page="argument_place.toml",
    severity=Severity.ERROR,
    role="call",
    absent=True,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=True,
)
PARAMETER_MOVED = Rule(
    id="parameter-moved",
    what="{last} of {owner}() stands in another place",
    fix="call it as {to}",
    otherwise="pass it by its name",
    page="argument_place.toml",
    severity=Severity.ERROR,
    role="call",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=True,
)

GOES_TO = "what is given for {given} goes to {taken} now"
LANDS_ON = "the argument lands on {parameter}"


def detect_misplaced(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """Whether an argument stands where another parameter is, and the one it names is nowhere."""
    if use.name != "places":
        return UNKNOWN
    node = file.nodes[use.node]
    if type(node) is not Call:
        return UNKNOWN
    form = file.forms[node.form]
    called = state.evaluator.value(index, node.callee)
    first = called.alternatives[0] if len(called.alternatives) == 1 else None
    if type(first) is not FunctionRef or form.star:
        return UNKNOWN
    symbol = first.symbol
    if not isinstance(symbol.node, Function) or signature_fit.reshaped(symbol.node):
        return UNKNOWN
    names = [each.name for each in symbol.node.parameters]
    positional = positions(symbol, first.bound)
    fits = False
    for place, given in enumerate(form.names[: len(positional)]):
        if is_weak(given):
            continue
        if positional[place].name == given:
            fits = True
        elif given not in names:
            new = positional[place].name
            wrong = Outcome(Status.BROKEN, "place", symbol.name, owner=symbol, name=given, new=new)
            return wrong._replace(named=called.named)
    return Outcome(Status.OK, found=(symbol,), named=called.named) if fits else UNKNOWN


def positions(symbol: Symbol, bound: bool = True) -> list[Parameter]:
    """The parameters of a function that positional arguments go to."""
    assert isinstance(symbol.node, Function)
    parameters = symbol.node.parameters
    method = symbol.owner is not None and not symbol.node.role & Role.STATIC
    return [
        each
        for each in parameters[1 if bound and method else 0 :]
        if each.kind <= ParameterKind.POSITIONAL
    ]


def other_than(old: Symbol, new: Symbol, name: str, at_place: str) -> bool:
    """Whether the parameter at a place is another one now, and not the old one by a new name.

    Args:
        old: The function as it was.
        new: The function as it is.
        name: The parameter that stood there, and is gone.
        at_place: The one that stands there now.
    """
    had = {each.name: each for each in positions(old)}
    has = {each.name: each for each in positions(new)}
    if name not in had or at_place not in has:
        return False
    if at_place in had:
        return True  # it stood elsewhere before: everything has moved up
    one, two = had[name].annotation, has[at_place].annotation
    return bool(one and two and one != two and len(has) < len(had))


def detect_shift(
    symbol: Symbol, name: str, parameters: Sequence[Parameter], form: Form
) -> Outcome | None:
    """An argument that lands on another parameter than the one it is named after."""
    positional = [each for each in parameters if each.kind <= ParameterKind.POSITIONAL]
    places = {each.name: place for place, each in enumerate(positional)}
    for place, given in enumerate(form.names[: len(positional)]):
        other = places.get(given, place)
        if other == place or positional[place].name == given or given in form.keywords:
            continue
        one, two = positional[place].annotation, positional[other].annotation
        return Outcome(
            Status.BROKEN,
            "shift",
            name,
            owner=symbol,
            name=given,
            detail="types" if one and two and one != two else "",
            new=positional[place].name,
        )
    return None


def judge_argument_place(judging: Judging, case: Case) -> Finding | None:
    """An argument for a parameter that is gone, taken for the one that stands there now."""
    outcome, good = case.entry.outcome, judging.good(case).found
    if outcome.owner is None or case.last_ok is None or not good:
        return None
    if reasons.NO_CHANGE.holds(not other_than(good[0], outcome.owner, outcome.name, outcome.new)):
        judging.silence(case, reasons.NO_CHANGE)
        return None
    old, new = judging.releases[case.good], judging.releases[case.at]
    before, after = judging.catalog.surface(old), judging.catalog.surface(new)
    return judging.finding(
        case,
        rule=PARAMETER_REMOVED,
        symbol=f"{outcome.symbol}({outcome.name})",
        suggestion=judging.replacements.of_call(outcome.owner, "", new, after),
        role="call",
        old=judging.signature(good[0], before),
        new=judging.signature(outcome.owner, after),
        detail=GOES_TO.format(given=outcome.name, taken=outcome.new),
    )


def judge_shift(judging: Judging, case: Case) -> Finding | None:
    """A positional argument that lands on another parameter than it did."""
    outcome = case.entry.outcome
    if outcome.owner is None or case.last_ok is None:
        return None
    new = judging.releases[case.at]
    after = judging.catalog.surface(new)
    # of one type with what it lands on, it goes wrong silently; of another, it fails
    worst = Severity.ERROR if outcome.detail == "types" else Severity.WARNING
    return judging.finding(
        case,
        rule=PARAMETER_MOVED,
        severity=judging.severity(case, worst),
        symbol=f"{outcome.symbol}({outcome.name})",
        suggestion=judging.replacements.of_call(outcome.owner, outcome.name, new, after),
        role="call",
        detail=LANDS_ON.format(parameter=outcome.new),
    )


CAUSE = Cause(
    detects={UseKind.NEED: detect_misplaced},
    failures=(
        Failure(
            what="place",
            says="an argument of {name}() goes to another parameter",
            catches=NOTHING,
            judge=judge_argument_place,
        ),
        Failure(
            what="shift",
            says="an argument of {name}() lands on another parameter",
            catches=NOTHING,
            judge=judge_shift,
        ),
    ),
    rules=(PARAMETER_REMOVED, PARAMETER_MOVED),
)
