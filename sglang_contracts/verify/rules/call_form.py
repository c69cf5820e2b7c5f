"""Calls against the signature of what is called."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Attr, Call, Partial
from sglang_contracts.plugin.ir.records import File, Form, Use, UseKind
from sglang_contracts.plugin.walk.except_clauses import CALL_ERRORS
from sglang_contracts.surface.model import Attribute, Kind, Parameter, ParameterKind, Role
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion
from sglang_contracts.verify.rules import argument_place, argument_type, result_form
from sglang_contracts.verify.rules.argument_place import PARAMETER_REMOVED
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.launch_word_gone import SERVER_ARG_REMOVED
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.values import signature_fit, spread_keys
from sglang_contracts.verify.values.signature_fit import Shape, misfit
from sglang_contracts.verify.values.value import (
    Alternative,
    ClassRef,
    FunctionRef,
    ObjectOf,
    OwnClassRef,
    OwnObject,
    OwnSuper,
)

PARAMETER_RENAMED = Rule(
    id="parameter-renamed",
    what="{last} of {owner}() has another name",
    early="{last} of {owner}() has another name yet",
    fix="pass {to}",
    page="call_form.toml",
    severity=Severity.ERROR,
    role="call",
    absent=True,
    merges_with=ALONE,
    edit=Edit.RENAME,
    argument=True,
)
PARAMETER_REQUIRED = Rule(
    id="parameter-required",
    what="{owner}() requires {last}",
    fix="pass {to}",
    otherwise="pass it where the release has it",
    page="call_form.toml",
    severity=Severity.ERROR,
    role="call",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=True,
)
KEYWORD_ONLY = Rule(
    id="keyword-only",
    what="{last} of {owner}() can be passed by keyword only",
    fix="pass {to}",
    otherwise="pass it by its name",
    page="call_form.toml",
    severity=Severity.ERROR,
    role="call",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=True,
)


HANDED_ON = "handed-on-keyword"
"""A keyword that a constructor takes in its ``**kwargs``, and that who gets them does not."""


def detect_call(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """A call against the signature of what is called."""
    node = file.nodes[use.node]
    if not isinstance(node, (Call, Partial)):
        return UNKNOWN
    value = state.evaluator.value(index, node.callee)
    if not value.alternatives:
        return UNKNOWN
    form = spread_keys.completed(state.evaluator, index, file.forms[node.form])
    exact = exact_receiver(state, index, file, node.callee)
    results = [
        call_one(state, each, index, form, type(node) is Partial, exact)
        for each in value.alternatives
    ]
    if any(each.status is not Status.BROKEN for each in results):
        best = next(each for each in results if each.status is not Status.BROKEN)
        if best.status is Status.OK and len(value.alternatives) == 1 and use.count:
            best = result_form.detect_awaited(state, value.alternatives[0], use.count) or best
        return best._replace(named=value.named)
    broken = results[0]._replace(named=value.named)
    if reasons.OVERRIDDEN_BELOW.holds(replaced_below(state, index, file, node.callee)):
        return broken.silenced(reasons.OVERRIDDEN_BELOW.id)
    return broken


def replaced_below(state: Detection, index: int, file: File, callee: int) -> bool:
    """Whether an own class below that of the receiver has the method: it may be that one."""
    held = file.nodes[callee]
    if type(held) is not Attr:
        return False
    return any(
        type(each) is OwnObject
        and state.evaluator.index.defined_below(each.file, each.qual, held.name)
        for each in state.evaluator.value(index, held.base).alternatives
    )


def exact_receiver(state: Detection, index: int, file: File, callee: int) -> bool:
    """Whether a method is called on what is certainly of that class: ``super()``, one's own."""
    held = file.nodes[callee]
    if type(held) is not Attr:
        return False
    receiver = state.evaluator.value(index, held.base).alternatives
    return bool(receiver) and all(
        type(each) is OwnSuper
        or (type(each) is OwnObject and not state.evaluator.index.is_base(each.file, each.qual))
        or (type(each) is ObjectOf and each.exact)
        for each in receiver
    )


def call_one(
    state: Detection, each: Alternative, index: int, form: Form, partial: bool, exact: bool
) -> Outcome:
    """How a call of one of the things that a callee may be fares."""
    if type(each) is FunctionRef:
        return call_function(state, each.symbol, each.bound, index, form, partial, exact)
    if type(each) is ClassRef:
        return construct(state, each.symbol, index, form, partial)
    if type(each) is OwnClassRef:
        return construct_own(state, each.file, each.qual, index, form, partial)
    return UNKNOWN


def call_function(
    state: Detection,
    symbol: Symbol,
    bound: bool,
    index: int,
    form: Form,
    partial: bool,
    exact: bool,
) -> Outcome:
    """A call of a recorded function against its signature."""
    node = symbol.node
    if not isinstance(node, Recorded):
        return UNKNOWN
    if node.role & Role.RETIRED:
        return Outcome(Status.BROKEN, "retired", symbol.name, owner=symbol, name=symbol.qual)
    if signature_fit.reshaped(node):
        return UNKNOWN
    target = state.evaluator.results.delegate(symbol)
    if target is not None and target.kind == "class":
        return construct(state, target, index, form, partial)
    parameters = node.parameters
    if bound and parameters:
        parameters = parameters[1:]
    outcome = fit(state, symbol, symbol.name, parameters, index, form, partial)
    may_be_below = outcome.status is Status.BROKEN and bound and not exact
    if may_be_below and reasons.TAKEN_BELOW.holds(widened(state, symbol, form)):
        return outcome.silenced(reasons.TAKEN_BELOW.id)
    return outcome


def widened(state: Detection, symbol: Symbol, form: Form) -> bool:
    """Whether a class that derives from a method's class takes the call: it may be that one."""
    name = symbol.qual.rsplit(".", 1)[-1]
    if symbol.owner is None or name.startswith("__"):
        return False
    given = Shape(len(form.positional), tuple(form.keywords), form.star, form.double_star)
    for place in state.lens.places(name):
        if symbol.owner.name not in state.lens.ancestry(place)[1:]:
            continue
        other = state.lens.parse(place)
        method = state.lens.member(other, name) if other is not None else None
        if method is None or method.owner != other or not isinstance(method.node, Recorded):
            continue
        # An override that takes anything (a pool that does nothing) speaks for no call.
        kinds = {each.kind for each in method.node.parameters}
        if {ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD} <= kinds:
            continue
        if misfit(method.node.parameters[1:], given) is None:
            return True
    return False


def construct_own(
    state: Detection, file: int, qual: str, index: int, form: Form, partial: bool
) -> Outcome:
    """An own class without a constructor of its own: upstream's is called."""
    record = state.files[file].classes.get(qual)
    if record is None or record.open or record.decorated or len(record.bases) != 1:
        return UNKNOWN
    if "__init__" in record.methods or "__new__" in record.methods:
        return UNKNOWN
    if record.attributes and not record.methods:
        return UNKNOWN  # may be a dataclass with fields of its own
    value = state.evaluator.value(file, record.bases[0])
    base = value.alternatives[0] if len(value.alternatives) == 1 else None
    if type(base) is not ClassRef:
        return UNKNOWN
    symbol = base.symbol
    if state.lens.kind(symbol) & (Kind.DATACLASS | Kind.STRUCT | Kind.PYDANTIC | Kind.ENUM):
        return UNKNOWN
    return construct(state, symbol, index, form, partial)


def construct(state: Detection, symbol: Symbol, index: int, form: Form, partial: bool) -> Outcome:
    """A class is called."""
    lens = state.lens
    kind = lens.kind(symbol)
    if kind & (Kind.ENUM | Kind.PROTOCOL) or (lens.is_open(symbol) and not kind & Kind.STRUCT):
        return Outcome(Status.OK, found=(symbol,)) if not kind & Kind.ENUM else UNKNOWN
    constructor = lens.constructor(symbol)
    if constructor is None:
        return UNKNOWN
    record_class = (
        bool(
            kind
            & (Kind.DATACLASS | Kind.STRUCT | Kind.PYDANTIC | Kind.NAMEDTUPLE | Kind.TYPED_DICT)
        )
        and lens.member(symbol, "__init__") is None
    )
    target = forwarded(state, symbol, constructor)
    if target is not None:
        further = beyond(state, target, constructor, form)
        if further is not None:
            return further
    name = symbol.name if record_class else f"{symbol.name}.__init__"
    outcome = fit(state, symbol, name, constructor.parameters[1:], index, form, partial)
    if (
        outcome.status is Status.BROKEN
        and record_class
        and outcome.detail
        in (
            "unknown-keyword",
            "missing",
        )
    ):
        if kind & Kind.PYDANTIC and outcome.detail == "unknown-keyword":
            return outcome._replace(
                detail="ignored-keyword", symbol=f"{symbol.name}.{outcome.name}"
            )
        return outcome._replace(symbol=f"{symbol.name}.{outcome.name}")
    return outcome


def forwarded(state: Detection, symbol: Symbol, constructor: Recorded) -> Symbol | None:
    """The record that a constructor makes of its ``**kwargs``, and of nothing else."""
    if not any(each.kind == ParameterKind.VAR_KEYWORD for each in constructor.parameters):
        return None
    record = state.lens.module(symbol.module)
    if record is None:
        return None
    for called in constructor.calls:  # ``state.server_args_class(**kwargs)``
        member = state.lens.member(symbol, called)
        if member is not None and isinstance(member.node, Attribute):
            target = state.lens.scope(member.module, member.node.value)
            if target is not None and takes_keywords(state, member.module, called):
                return target if target.kind == "class" else None
    for name in record.imports:
        if name[:1].isupper() and takes_keywords(state, symbol.module, name):
            target = state.lens.scope(symbol.module, name)
            if target is not None and target.kind == "class":
                return target
    return None


def takes_keywords(state: Detection, module: str, name: str) -> bool:
    """Whether a module calls something with ``**kwargs`` and nothing else."""
    return any(
        where == module and call.double_star and not call.positional and not call.keywords
        for where, call in state.lens.callers(name)
    )


def beyond(state: Detection, target: Symbol, constructor: Recorded, form: Form) -> Outcome | None:
    """Keywords that a constructor takes only to hand them on, against who gets them."""
    own = {each.name for each in constructor.parameters}
    given = tuple(each for each in form.keywords if each not in own)
    made = state.lens.constructor(target)
    if not given or made is None or state.lens.is_open(target):
        return None
    problem = misfit(made.parameters[1:], Shape(0, given, double_star=True))
    if problem is None:
        return Outcome(Status.OK, found=(target,))
    symbol = f"{target.name}.{problem.name}"
    return Outcome(
        Status.BROKEN,
        "misfit",
        symbol,
        owner=target,
        name=problem.name,
        detail=HANDED_ON,
    )


def fit(
    state: Detection,
    symbol: Symbol,
    name: str,
    parameters: Sequence[Parameter],
    index: int,
    form: Form,
    partial: bool,
) -> Outcome:
    """Whether a call binds, and whether what it gives is of the right kind."""
    given = Shape(len(form.positional), tuple(form.keywords), form.star, form.double_star)
    if partial:
        given = given._replace(star=True, double_star=True)
    problem = misfit(parameters, given)
    if problem is not None and not (partial and problem.what == "missing"):
        return Outcome(
            Status.BROKEN, "misfit", name, owner=symbol, name=problem.name, detail=problem.what
        )
    mismatch = argument_type.detect_argument_type(
        state, symbol, name, parameters, index, form, given
    )
    mismatch = mismatch or argument_place.detect_shift(symbol, name, parameters, form)
    return mismatch or Outcome(Status.OK, found=(symbol,))


def judge_misfit(judging: Judging, case: Case) -> Finding | None:
    """A call that no longer fits: which parameter is gone, new, or taken by keyword only."""
    outcome = case.entry.outcome
    owner = outcome.owner
    if owner is None:
        return None
    old, new = judging.releases[case.good], judging.releases[case.at]
    before, after = judging.catalog.surface(old), judging.catalog.surface(new)
    good = judging.good(case).found
    was = good[0] if good else None
    severity = judging.severity(case)
    suggestion: Suggestion | None
    match outcome.detail:
        case "unknown-keyword" | "ignored-keyword" | "handed-on-keyword":
            suggestion = judging.replacements.of_keyword(owner, outcome.name, was, before, after)
            renamed = suggestion is not None and suggestion.evidence in (
                "same-position",
                "same-annotation",
            )
            rule = PARAMETER_RENAMED if renamed else PARAMETER_REMOVED
            symbol = outcome.symbol
            if not symbol.endswith(f".{outcome.name}"):
                symbol = f"{outcome.symbol}({outcome.name})"
            if owner.qual == "ServerArgs":
                rule = SERVER_ARG_REMOVED
            if reasons.IGNORED_KEYWORD.holds(outcome.detail == "ignored-keyword"):
                severity = severity.at_most(Severity.WARNING, reasons.IGNORED_KEYWORD)
        case "missing":
            rule = PARAMETER_REQUIRED
            symbol = outcome.symbol
            if not symbol.endswith(f".{outcome.name}"):
                symbol = f"{outcome.symbol}({outcome.name})"
            suggestion = judging.replacements.of_call(owner, outcome.name, new, after)
        case "keyword-only":
            rule = KEYWORD_ONLY
            symbol = f"{outcome.symbol}({outcome.name})"
            suggestion = judging.replacements.of_call(owner, outcome.name, new, after)
        case _:
            rule = PARAMETER_REMOVED
            symbol = outcome.symbol
            gone = dropped(judging, was, owner, before, after)
            if gone:
                symbol = f"{outcome.symbol}({gone})"
            suggestion = judging.replacements.of_call(owner, "", new, after)
    return judging.finding(
        case,
        rule=rule,
        severity=severity,
        symbol=symbol,
        suggestion=suggestion,
        role="call",
        old=judging.signature(was, before),
        new=judging.signature(owner, after),
    )


def dropped(
    judging: Judging, was: Symbol | None, now: Symbol, before: object, after: object
) -> str:
    """The one parameter that went, where it was exactly one."""
    old = judging.replacements.parameters(was, before) if was is not None else None  # type: ignore[arg-type]
    new = judging.replacements.parameters(now, after)  # type: ignore[arg-type]
    if old is None or new is None:
        return ""
    names = {each.name for each in new}
    gone = [each.name for each in old if each.name not in names]
    return gone[0] if len(gone) == 1 else ""


CAUSE = Cause(
    detects={UseKind.CALL: detect_call},
    failures=(
        Failure(
            what="misfit",
            says="{name}() cannot be called in this form",
            catches=CALL_ERRORS,
            judge=judge_misfit,
        ),
    ),
    rules=(PARAMETER_RENAMED, PARAMETER_REQUIRED, KEYWORD_ONLY),
)
