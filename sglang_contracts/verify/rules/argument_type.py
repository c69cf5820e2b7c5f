"""Arguments whose own type contradicts what the parameter is annotated with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sglang_contracts.plugin.ir.records import Form
from sglang_contracts.plugin.walk.except_clauses import ATTRIBUTE_ERRORS, CALL_ERRORS
from sglang_contracts.surface.model import Kind, Parameter
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.values.literals import contradicts
from sglang_contracts.verify.values.signature_fit import Shape, bound_to

DTYPE_CHANGED = Rule(
    id="dtype-changed",
    what="{name} is of another type",
    fix="use {to}",
    otherwise="convert it",
    page="argument_type.toml",
    severity=Severity.ERROR,
    role="call",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)

IS_NOW = "{parameter} is {type} now"


def detect_argument_type(
    state: Detection,
    symbol: Symbol,
    name: str,
    parameters: Sequence[Parameter],
    index: int,
    form: Form,
    given: Shape,
) -> Outcome | None:
    """An argument that is evidently of another kind than its parameter."""
    for place, parameter in bound_to(parameters, given).items():
        if not parameter.annotation:
            continue
        node = form.positional[place] if isinstance(place, int) else form.keywords[place]
        value = state.evaluator.value(index, node)
        if not value.alternatives:
            continue
        wanted = state.evaluator.annotations.typed(symbol.module, parameter.annotation)
        if contradicts(value, wanted, partial(is_record, state)):
            return Outcome(
                Status.BROKEN,
                "type",
                name,
                owner=symbol,
                name=parameter.name,
                detail="type",
                new=parameter.annotation,
            )
    return None


def is_record(state: Detection, symbol: Symbol) -> bool:
    """A class whose instances are nothing that a literal could stand for."""
    kind = state.lens.kind(symbol)
    if kind & (Kind.ENUM | Kind.TYPED_DICT | Kind.PROTOCOL | Kind.NAMEDTUPLE):
        return False
    if state.lens.externals(symbol) and not kind & (Kind.STRUCT | Kind.DATACLASS | Kind.PYDANTIC):
        return set(state.lens.externals(symbol)) <= {"ABC", "abc.ABC", "object", "Generic"}
    return True


def judge_argument_type(judging: Judging, case: Case) -> Finding | None:
    """An argument whose type contradicts the annotation; None where it never was accepted."""
    outcome = case.entry.outcome
    if outcome.owner is None or case.last_ok is None:
        return None  # what was never of another type is annotated wrongly, or not looked at
    new = judging.releases[case.at]
    after = judging.catalog.surface(new)
    said = judging.replacements.contract(outcome.symbol, new)
    types = after.annotation_type(outcome.owner.module, outcome.new)
    short = outcome.owner.qual.removesuffix(".__init__").rsplit(".", 1)[-1]
    suggestion = said
    if suggestion is None and types:
        suggestion = Suggestion(
            f"{short}({types[0].qual})", "signature", note=f"{outcome.name}: {types[0].name}"
        )
    elif suggestion is None:
        suggestion = Suggestion(f"{short}({outcome.name})", "signature", note=outcome.new)
    return judging.finding(
        case,
        rule=DTYPE_CHANGED,
        symbol=f"{outcome.symbol}({outcome.name})",
        suggestion=suggestion,
        role="call",
        new=outcome.new,
        detail=IS_NOW.format(parameter=outcome.name, type=outcome.new),
    )


CAUSE = Cause(
    detects={},  # a call that binds is looked at with its form
    failures=(
        Failure(
            what="type",
            says="an argument of {name}() is of another type",
            catches=CALL_ERRORS | ATTRIBUTE_ERRORS,
            judge=judge_argument_type,
        ),
    ),
    rules=(DTYPE_CHANGED,),
)
