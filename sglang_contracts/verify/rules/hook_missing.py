"""Methods that SGLang's base classes require and a plugin's class lacks."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Call, Item, Iter, Param, Unpack
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import Kind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.answers.spans import nearest, start
from sglang_contracts.verify.findings.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.rules import plugin_facts
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.check import Check
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.history import Entry
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.values.signature_fit import text as signature_text
from sglang_contracts.verify.values.subclasses import derived

HOOK_MISSING = Rule(
    id="hook-missing",
    what="SGLang needs {name} from the plugin's class",
    fix="provide it like {to}",
    otherwise="define {last}() in the plugin's class",
    page="hook_missing.toml",
    severity=Severity.ERROR,
    role="subclass",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


def detect_missing_hooks(state: Detection, index: int, qual: str) -> Outcome:
    """Whether an own class provides all that its upstream bases require."""
    record = state.files[index].classes[qual]
    if record.open:
        return UNKNOWN
    bases, complete = state.evaluator.members.upstream_bases(index, qual)
    if not bases or not complete:
        return UNKNOWN
    if any(bounded(state, index, base) for base in record.bases):
        return UNKNOWN
    own = plugin_facts.own_members(state, index, qual)
    for base in bases:
        if state.lens.kind(base) & Kind.PROTOCOL:
            return UNKNOWN
    missing: list[Symbol] = []
    for base in bases:
        for symbol in required(state, base):
            name = symbol.qual.rsplit(".", 1)[-1]
            if name not in own and not provided_elsewhere(state, bases, symbol, name):
                missing.append(symbol)
    if not missing:
        return Outcome(Status.OK, found=tuple(bases))
    first = missing[0]
    lacks = Outcome(
        Status.BROKEN,
        "hook-missing",
        first.name,
        owner=bases[0],
        name=first.qual.rsplit(".", 1)[-1],
        found=tuple(dict.fromkeys(missing)),
    )
    if reasons.OWN_BASE.holds(record.abstract or (index, qual) in state.extended):
        return lacks.silenced(reasons.OWN_BASE.id)
    return lacks


def bounded(state: Detection, index: int, base: int) -> bool:
    """Whether a base is known by an upper bound alone: the entry of a table, a result."""
    return isinstance(state.files[index].nodes[base], (Item, Call, Iter, Unpack, Param))


def provided_elsewhere(
    state: Detection, bases: Sequence[Symbol], symbol: Symbol, name: str
) -> bool:
    """Whether another base implements what one of them requires."""
    for base in bases:
        found = state.lens.member(base, name)
        if (found is not None and found != symbol and isinstance(found.node, Recorded)) and (
            not found.node.role & (Role.ABSTRACT | Role.UNIMPLEMENTED)
        ):
            return True
    return False


def required(state: Detection, base: Symbol) -> list[Symbol]:
    """Members of an upstream class that a concrete class has to provide.

    Abstract ones; and those that only raise ``NotImplementedError`` where the release calls
    them (:class:`~sglang_contracts.verify.rules.judge.Findings` asks who else provides them).
    """
    return state.lens.once(
        ("required", base.module, base.qual),
        lambda: [
            symbol
            for name, symbol in state.lens.members(base).items()
            if isinstance(symbol.node, Recorded) and is_requirement(state, name, symbol.node)
        ],
    )


def is_requirement(state: Detection, name: str, node: Recorded) -> bool:
    """Whether a method has to be provided: abstract, or unimplemented and called."""
    return bool(
        node.role & Role.ABSTRACT
        or (
            node.role & Role.UNIMPLEMENTED
            and not name.startswith("_")
            and not node.role & Role.PLANNED
            and state.upstream.sites(name)
        )
    )


def judge_missing_hooks(
    judging: Judging, number: int, check: Check, entry: Entry, index: int
) -> list[Finding]:
    """Hooks that a class does not provide; each needs a release that did not require it."""
    made: list[Finding] = []
    for symbol in entry.outcome.found:
        name = symbol.qual.rsplit(".", 1)[-1]
        lacks, has = course_of(judging, number, name)
        good, first = nearest(has, index), start(lacks, index)
        last = first - 1 if first > 0 else None
        case = Case(number, check, entry, index, first, last, good if good is not None else index)
        file = judging.files[check.file]
        surface = judging.catalog.surface(judging.releases[index])
        suggestion = judging.replacements.contract(symbol.name, judging.releases[index])
        parameters = judging.replacements.parameters(symbol, surface)
        if suggestion is None and parameters is not None:
            required = [each.name for each in parameters]
            text = f"{name}({required[0]})" if required else name
            suggestion = Suggestion(text, "signature", note=signature_text(name, parameters))
        owner = entry.outcome.owner
        key = (symbol.name, owner.name if owner else "", good)
        if key not in judging.required:
            judging.required[key] = is_obligatory(judging, symbol, owner, index, good)
        if reasons.NOT_OBLIGATORY.holds(not judging.required[key]):
            judging.silence(case, reasons.NOT_OBLIGATORY, symbol.name)
            continue
        severity = judging.severity(case)
        if reasons.NEVER_COMPLETE.holds(good is None):
            severity = severity.at_most(Severity.NOTE, reasons.NEVER_COMPLETE)
        made.append(
            judging.finding(
                case,
                rule=HOOK_MISSING,
                severity=severity,
                symbol=symbol.name,
                locations=(Location(file.path, file.classes[check.name].line),),
                suggestion=suggestion,
                role="subclass",
            )
        )
    return made


def course_of(judging: Judging, number: int, name: str) -> tuple[bytes, bytes]:
    """Where a class lacks a hook that it has to provide, and where it does not."""
    course = judging.courses.get((number, name))
    if course is None:
        entries = judging.timeline.history(number)
        lacks = bytes(
            each.broken and any(s.qual.rsplit(".", 1)[-1] == name for s in each.outcome.found)
            for each in entries
        )
        has = bytes(
            not lacking and each.outcome.status is not Status.UNKNOWN
            for each, lacking in zip(entries, lacks, strict=True)
        )
        course = judging.courses[number, name] = (lacks, has)
    return course


def is_obligatory(
    judging: Judging, symbol: Symbol, base: Symbol | None, index: int, good: int | None
) -> bool:
    """Whether a class has to provide a hook.

    An abstract one, yes. One that only raises ``NotImplementedError``: where it did not in a
    release before, and every class of the release that derives from the base provides it.
    """
    node = symbol.node
    if not isinstance(node, Recorded) or node.role & Role.ABSTRACT:
        return True
    if good is None or base is None:
        return False
    before = judging.catalog.surface(judging.releases[good]).find(symbol.module, symbol.qual)
    if (before is not None and isinstance(before.node, Recorded)) and (
        before.node.role & (Role.UNIMPLEMENTED | Role.ABSTRACT)
    ):
        return False
    surface = judging.catalog.surface(judging.releases[index])
    name, kin = symbol.qual.rsplit(".", 1)[-1], 0
    for each in derived(surface, base):
        if surface.member(each, name) == symbol:
            return False
        kin += 1
    return kin >= 3


CAUSE = Cause(
    detects={},  # a class is looked at as a whole
    failures=(
        Failure(
            what="hook-missing",
            says="SGLang needs {name} from the class",
            catches=NOTHING,
            judge=None,
        ),
    ),
    rules=(HOOK_MISSING,),
)
