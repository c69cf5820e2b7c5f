"""Functions of a plugin that SGLang calls: hooks, patches, overrides and their signatures."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Attr, Call, Partial, Wrapped
from sglang_contracts.plugin.ir.records import File, Function, Use, UseKind
from sglang_contracts.surface.model import VARIADIC, Parameter, ParameterKind, Role
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity, with_changes
from sglang_contracts.verify.rules import member_gone, name_gone, override_orphaned
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.silences.silence import Weight
from sglang_contracts.verify.values.object_calls import Site
from sglang_contracts.verify.values.signature_fit import Misfit, Shape, misfit
from sglang_contracts.verify.values.value import ObjectOf, OwnFunctionRef, OwnObject

OVERRIDE_SIGNATURE = Rule(
    id="override-signature",
    what="an override of {name}() cannot take what SGLang passes",
    fix="give it {to}",
    otherwise="accept the new parameters, or take *args and **kwargs",
    page="override_signature.toml",
    severity=Severity.ERROR,
    role="override",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


_RARE = 0.15
"""Share of upstream's call sites below which a new argument is passed on a special path only."""

HOW_CALLED = {
    "awaited": "SGLang awaits it: make it a coroutine",
    "not-awaited": "SGLang does not await it: make it a plain function",
    "deferred": "SGLang's does its work when it is called, a generator at its first step only",
}
PASSES, PASSES_NO = "SGLang passes {name}", "SGLang passes no {name}"
PASSES_BOTH = "SGLang passes {first} and {now}"


def detect_hook(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """A hook's target, and whether its function fits what the target is called with."""
    outcome = name_gone.detect_dotted(state, index, file, use)
    if outcome.status is not Status.OK:
        return outcome._replace(what="hook") if outcome.status is Status.BROKEN else outcome
    if not use.value:
        return outcome
    own = state.evaluator.index.own_function(index, use.value)
    if own is None or len(outcome.found) != 1:
        return outcome
    fits = replaces(state, own, outcome.found[0], use.name)
    return fits if fits is not None and fits.status is Status.BROKEN else outcome


def detect_write(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """An assignment to an attribute: is it there, and does a function that replaces one fit?"""
    outcome = member_gone.detect_attribute(state, index, file, use)
    return detect_patch(state, index, use, outcome) or outcome


def detect_patch(state: Detection, index: int, use: Use, outcome: Outcome) -> Outcome | None:
    """An assignment puts a function in place of an upstream one: does it fit?"""
    if not use.value or outcome.status is not Status.OK or len(outcome.found) != 1:
        return None
    node, nodes = state.files[index].nodes[use.node], state.files[index].nodes
    own = state.evaluator.index.own_function(index, use.value)
    written = state.evaluator.value(index, use.value).alternatives
    bound = False
    if len(written) == 1 and type(written[0]) is OwnFunctionRef:
        own, bound = (written[0].file, written[0].function), written[0].bound
    value = nodes[use.value]
    if type(value) is Partial and own is None:
        form = state.files[index].forms[value.form]
        given = len(form.positional) == 1 and not (form.keywords or form.star)
        if given:
            own, bound = state.evaluator.index.own_function(index, value.callee), True
    if own is None or type(node) is not Attr:
        return None
    # what is written to an object is not bound to it: there is no ``self`` to be passed
    holders = state.evaluator.value(index, node.base).alternatives
    on_object = bool(holders) and all(type(each) in (ObjectOf, OwnObject) for each in holders)
    bound = bound or (type(value) is Wrapped and value.kind == "method")
    static = type(value) is Wrapped and value.kind == "static"
    fits = replaces(
        state, own, outcome.found[0], "replace", has_self=bound or not (on_object or static)
    )
    return fits if fits is not None and fits.status is Status.BROKEN else None


def replaces(
    state: Detection, own: tuple[int, int], target: Symbol, kind: str, has_self: bool = True
) -> Outcome | None:
    """Whether a function of the plugin takes what a target is called with."""
    inner = state.evaluator.index.effective(*own)
    if inner is None:
        return None
    record = state.files[inner[0]].functions[inner[1]]
    node = target.node
    if not isinstance(node, Recorded) or kind not in ("replace", "around", "before", "after"):
        return None
    if record.kind in ("property", "overload") or node.role & Role.PROPERTY:
        return None
    shift = 1 if kind in ("around", "after") else 0
    fits = accepts(state, record, target, shift, bool(target.owner), has_self=has_self)
    return unanswered(fits) if reasons.TORCH_CALLS.holds(torch_calls(state, target)) else fits


def torch_calls(state: Detection, target: Symbol) -> bool:
    """Whether a method is a module's ``forward`` that no recorded call of an object leads to."""
    forward = target.qual.rsplit(".", 1)[-1] == "forward"
    return forward and state.upstream.runs(target) and not state.upstream.called(target)


def unanswered(fits: Outcome) -> Outcome:
    """What calls of ``forward`` by name alone tell of a module's."""
    return fits.silenced(reasons.TORCH_CALLS.id) if fits.status is Status.BROKEN else UNKNOWN


def accepts(
    state: Detection,
    record: Function,
    target: Symbol,
    shift: int,
    method: bool,
    own_class: tuple[int, str, Sequence[Symbol]] | None = None,
    has_self: bool = True,
) -> Outcome:
    """A misfit between upstream's calls of a target and a function that stands in for it.

    Args:
        state: What detections share.
        record: The plugin's function.
        target: What it stands in for.
        shift: How many leading parameters are its own.
        method: Whether both take ``state``.
        own_class: The class (file, name, its upstream bases) that overrides the target, where
            all its bases are known: calls on ``state`` that cannot reach it do not count.
        has_self: Whether the plugin's function is bound to the object, where its target is.
    """
    node = target.node
    assert isinstance(node, Recorded)
    own = [
        Parameter(each.name, ParameterKind(each.kind), "", "..." if each.has_default else "")
        for each in record.parameters
    ]
    theirs = node.parameters
    if method and not node.role & Role.STATIC:
        theirs = theirs[1:]
        if has_self and record.kind != "static" and own and own[0].kind <= ParameterKind.POSITIONAL:
            own = own[1:]
    own = own[shift:] if shift and own and own[0].kind <= ParameterKind.POSITIONAL else own
    short = target.qual.rsplit(".", 1)[-1]
    # what only *args and **kwargs of the target would take is meant for another class
    strict = [each for each in theirs if each.kind not in VARIADIC]
    named = {each.name for each in theirs}
    own_names = {each.name for each in own}

    def held(sites: Sequence[Site]) -> tuple[int, list[tuple[Misfit, Site]]]:
        """How many calls the plugin's function takes, and those it does not."""
        fitting, problems, demands = 0, [], []
        for site in sites:
            form = site.form
            if misfit(strict, form) is not None:
                continue
            if form.star and not form.positional and not form.keywords:
                continue
            problem = misfit(own, form)
            # a parameter of its own is the plugin's affair, as long as some call gives it
            if problem is not None and problem.what == "missing":
                if form.star or form.double_star:
                    problem = None
                elif problem.name not in named:
                    demands.append((problem, site))
                    continue
            if problem is None:
                problem = _moved(own, theirs, form)
            if problem is None:
                fitting += 1
            else:
                problems.append((problem, site))
        return fitting, problems or ([] if fitting else demands)

    of_objects = state.upstream.called(target)
    by_name: list[Site] = []
    if not of_objects or short != "forward":  # a module's is hardly called by its name
        by_name = state.upstream.sites(short, target.owner, own_class)
    fitting, problems = held([*of_objects, *by_name])
    if problems and target.owner is not None:  # whose calls these are is dear to find out
        by_name = state.upstream.without_strangers(by_name, target.owner)
        fitting, problems = held([*of_objects, *by_name])
    if not problems:
        return Outcome(Status.OK, found=(target,)) if fitting else UNKNOWN
    problem, site = problems[0]
    detail = problem.what
    if len(problems) < _RARE * (fitting + len(problems)):
        wrapping = all(
            each not in of_objects and wraps(state, each.module, short) for _, each in problems
        )
        detail = "special" if wrapping else "rare"
    return Outcome(
        Status.BROKEN,
        "override",
        target.name,
        owner=target,
        name=blame(problem, site.form, theirs, own_names),
        detail=detail,
    )


def wraps(state: Detection, module: str, name: str) -> bool:
    """Whether a module that calls a method has one of that name itself: it wraps others."""
    record = state.lens.module(module)
    return record is not None and any(name in each.methods for each in record.classes.values())


def blame(problem: Misfit, form: Shape, theirs: Sequence[Parameter], own: set[str]) -> str:
    """The upstream parameter that the plugin's function does not take."""
    if problem.what == "unknown-keyword":
        return problem.name
    for each in theirs:
        if (each.name not in own and each.kind <= ParameterKind.KEYWORD_ONLY) and (
            each.kind != ParameterKind.VAR_POSITIONAL
        ):
            return each.name
    return problem.name


def detect_override(state: Detection, index: int, number: int, qualified: str) -> Outcome:
    """A method of an own class against the upstream method it overrides."""
    qual, _, name = qualified.rpartition(".")
    record = state.files[index].functions[number]
    bases, complete = state.evaluator.members.upstream_bases(index, qual)
    if not bases:
        return UNKNOWN
    target: Symbol | None = None
    if name == "__init__":
        return detect_constructor(state, index, qual, record, bases)
    for base in bases:
        target = state.lens.member(base, name)
        if target is not None:
            break
    if target is None:
        if not complete or any(state.lens.is_open(base) for base in bases):
            return UNKNOWN
        orphan = Outcome(
            Status.BROKEN, "orphan", f"{bases[0].name}.{name}", owner=bases[0], name=name
        )
        if reasons.STILL_CALLED.holds(override_orphaned.still_called(state, name, bases)):
            return orphan.silenced(reasons.STILL_CALLED.id)
        if reasons.NAMED_THERE.holds(override_orphaned.mentioned(state, bases, name)):
            return orphan.silenced(reasons.NAMED_THERE.id)
        return orphan
    node = target.node
    if not isinstance(node, Recorded):
        return Outcome(Status.OK, found=(target,))
    inner = state.evaluator.index.effective(index, number)
    plain = record.kind not in ("property", "overload") and inner is not None
    decorated = record.wrapped
    if inner is not None:
        record = state.files[inner[0]].functions[inner[1]]
    if not plain or target.kind == "property" or record.stub:
        return Outcome(Status.OK, found=(target,))
    own = (index, qual, bases) if complete else None
    fits = accepts(state, record, target, 0, True, own)
    if reasons.TORCH_CALLS.holds(torch_calls(state, target)):
        return unanswered(fits)
    if fits.status is Status.BROKEN or decorated:
        return fits
    if record.is_generator:
        return defers(state, target) or fits
    return waits(state, index, record, target) or fits


def defers(state: Detection, target: Symbol) -> Outcome | None:
    """An override that is a generator, of what does its work when it is called."""
    node = target.node
    assert isinstance(node, Recorded)
    idle = Role.GENERATOR | Role.ABSTRACT | Role.UNIMPLEMENTED | Role.EMPTY
    if node.role & (idle | Role.CONTEXT_MANAGER) or node.decorators:
        return None
    return Outcome(Status.BROKEN, "override", target.name, owner=target, detail="deferred")


def waits(state: Detection, index: int, record: Function, target: Symbol) -> Outcome | None:
    """An override that gives no coroutine where SGLang awaits one, or the other way round."""
    node = target.node
    assert isinstance(node, Recorded)
    if node.role & (Role.GENERATOR | Role.CONTEXT_MANAGER) or node.decorators:
        return None
    theirs = bool(node.role & Role.ASYNC)
    handed_on = any(type(state.files[index].nodes[each]) is Call for each in record.returns)
    if theirs == record.is_async or (theirs and handed_on):
        return None
    return Outcome(
        Status.BROKEN,
        "override",
        target.name,
        owner=target,
        detail="awaited" if theirs else "not-awaited",
    )


def detect_constructor(
    state: Detection, index: int, qual: str, record: Function, bases: Sequence[Symbol]
) -> Outcome:
    """An own ``__init__`` that may stand in for the base's: it must take what core passes."""
    fits = constructor_accepts(state, record, bases)
    if reasons.MADE_BY_PLUGIN.holds(
        (index, qual) in state.constructed
        or record.wrapped
        or constructed_elsewhere(state, index, qual)
    ):
        broken = fits.status is Status.BROKEN
        return fits.silenced(reasons.MADE_BY_PLUGIN.id) if broken else UNKNOWN
    return fits


def constructor_accepts(state: Detection, record: Function, bases: Sequence[Symbol]) -> Outcome:
    """Whether an own ``__init__`` takes what core passes to that of the base."""
    for base in bases:
        constructor = state.lens.constructor(base)
        if constructor is None or state.lens.is_open(base):
            return UNKNOWN
        theirs = constructor.parameters[1:]
        own = [
            Parameter(each.name, ParameterKind(each.kind), "", "..." if each.has_default else "")
            for each in record.parameters
        ][1:]
        short = base.qual.rsplit(".", 1)[-1]
        forms = [site.form for site in state.upstream.sites(short)]
        calls = [form for form in forms if misfit(theirs, form) is None]
        explicit = [each for each in calls if each.positional or each.keywords]
        if not explicit:
            return UNKNOWN
        for form in explicit:
            problem = misfit(own, form)
            if problem is not None:
                name = blame(problem, form, theirs, {each.name for each in own})
                return Outcome(
                    Status.BROKEN,
                    "override",
                    f"{base.name}.__init__",
                    owner=base,
                    name=name,
                    detail=problem.what,
                )
        return Outcome(Status.OK, found=(base,))
    return UNKNOWN


def constructed_elsewhere(state: Detection, index: int, qual: str) -> bool:
    """Whether the plugin hands an own class on, so that who makes it cannot be told.

    One that is put in its base's place is made as the base is.
    """
    if (index, qual) in state.installed:
        return False
    short = qual.rsplit(".", 1)[-1]
    return any(short in file.mentions.get(-1, ()) for file in state.files)


def judge_stand_in(judging: Judging, case: Case) -> Finding | None:
    """An override, a hook or a patch that no longer fits what its target is called with."""
    made = judge_signature(judging, case)
    if made is None or case.check.kind == "override":
        return made
    _, use = judging.use(case)
    return with_changes(made, role="hook" if use.kind is UseKind.HOOK else "patch")


def judge_signature(judging: Judging, case: Case) -> Finding | None:
    """A function that no longer takes what its target is called with."""
    outcome = case.entry.outcome
    if outcome.owner is None or case.last_ok is None:
        return None
    new = judging.releases[case.at]
    after = judging.catalog.surface(new)
    severity = judging.severity(case)
    rare = outcome.detail == "rare" and not gained(judging, case, outcome.owner, outcome.name)
    if reasons.NEVER_STOOD_IN.holds(departs(judging, case, outcome.owner)):
        severity = severity.at_most(Severity.NOTE, reasons.NEVER_STOOD_IN)
    elif reasons.SPECIAL_PATH.holds(outcome.detail == "special" or rare):
        severity = severity.at_most(Severity.NOTE, reasons.SPECIAL_PATH)
    elif reasons.RARELY_PASSED.holds(outcome.detail == "rare"):
        severity = severity.at_most(Severity.WARNING, reasons.RARELY_PASSED)
    elif outcome.detail == "deferred":  # SGLang's own work is done, only later
        severity = Weight(min(severity.severity, Severity.WARNING, key=lambda each: each.rank))
    return judging.finding(
        case,
        rule=OVERRIDE_SIGNATURE,
        severity=severity,
        symbol=outcome.symbol,
        suggestion=judging.replacements.of_call(outcome.owner, outcome.name, new, after),
        role="override",
        new=judging.signature(outcome.owner, after),
        detail=HOW_CALLED.get(outcome.detail, "") or passed(judging, case),
    )


def departs(judging: Judging, case: Case, target: Symbol) -> bool:
    """Whether an override asks for what the base did not take in the last good release either.

    Nobody who calls the base's form could have called it then: its callers are its own.
    """
    if case.check.kind != "override" or case.last_ok is None:
        return False
    before = judging.catalog.surface(judging.releases[case.last_ok])
    was = before.find(target.module, target.qual)
    if was is None or not isinstance(was.node, Recorded):
        return False
    theirs = was.node.parameters[1:]
    if any(each.kind is ParameterKind.VAR_POSITIONAL for each in theirs):
        return False
    own = judging.files[case.check.file].functions[case.check.number].parameters[1:]
    asked = {
        each.name
        for each in own
        if not each.has_default and ParameterKind(each.kind) not in VARIADIC
    }
    refused = {each.name for each in theirs if each.required} - {each.name for each in own}
    # One name alone may be the same parameter under a name of its own.
    return bool(refused) and len(asked - {each.name for each in theirs}) > 1


def gained(judging: Judging, case: Case, target: Symbol, name: str) -> bool:
    """Whether what is passed is a parameter that the method did not have before."""
    good = judging.good(case).found
    return _takes(target, name) and bool(good) and not _takes(good[0], name)


def passed(judging: Judging, case: Case) -> str:
    """What SGLang passes: what broke it first, and what it is now where that is another."""
    now = case.entry.outcome.name
    owner = case.entry.outcome.owner
    if case.entry.outcome.detail == "missing" and owner and not _takes(owner, now):
        return PASSES_NO.format(name=now)
    began = judging.timeline.entry(case.number, case.first).outcome.name
    if not now:
        return ""
    if began in ("", now):
        return PASSES.format(name=now)
    return PASSES_BOTH.format(first=began, now=now)


def _moved(own: Sequence[Parameter], theirs: Sequence[Parameter], form: Shape) -> Misfit | None:
    """An own parameter that another of upstream's arguments lands on."""
    ours = [each.name for each in own if each.kind <= ParameterKind.POSITIONAL]
    names = [each.name for each in theirs if each.kind <= ParameterKind.POSITIONAL]
    for name, other in zip(ours[: form.positional], names, strict=False):
        if name != other and name in names and other not in ours:
            return Misfit("moved", other)
    return None


def _takes(function: Symbol, name: str) -> bool:
    """Whether a function of the release has a parameter."""
    node = function.node
    return isinstance(node, Recorded) and any(each.name == name for each in node.parameters)


CAUSE = Cause(
    detects={UseKind.WRITE: detect_write, UseKind.HOOK: detect_hook},
    failures=(
        Failure(
            what="override",
            says="an override of {name}() cannot take what SGLang passes",
            catches=NOTHING,
            judge=judge_stand_in,
        ),
    ),
    rules=(OVERRIDE_SIGNATURE,),
)
