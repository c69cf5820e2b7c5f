"""Attributes of classes, objects and modules: whether a release has them."""

from __future__ import annotations

import textwrap
from itertools import islice

from sglang_contracts.plugin.ir.nodes import Attr, Call, Dotted, Has
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.walk.except_clauses import ATTRIBUTE_ERRORS, IMPORT_ERRORS
from sglang_contracts.surface.model import Attribute, Function
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion, with_changes
from sglang_contracts.verify.rules import (
    member_silence,
    name_gone,
    operation_on_kind,
    result_form,
)
from sglang_contracts.verify.rules.case import Case, Judging, role_of
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.name_gone import MODULE_REMOVED, SYMBOL_MOVED, SYMBOL_REMOVED
from sglang_contracts.verify.rules.result_form import HAS_NO, RETURN_CHANGED
from sglang_contracts.verify.rules.rule import ALONE, SAID_BY_ITS_PATCH_OR_OVERRIDE, Edit, Rule
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.silences.silence import Weight
from sglang_contracts.verify.values.subclasses import derived
from sglang_contracts.verify.values.value import (
    Builtin,
    DictValue,
    ListValue,
    ObjectOf,
    OwnObject,
    OwnSuper,
    TupleValue,
    is_weak,
)

FIELD_REMOVED = Rule(
    id="field-removed",
    what="{name} is gone",
    early="{name} is not there yet",
    fix="use {to}",
    page="member_gone.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=SAID_BY_ITS_PATCH_OR_OVERRIDE,
    edit=Edit.NONE,
    argument=False,
)
FIELD_RENAMED = Rule(
    id="field-renamed",
    what="{name} has another name",
    early="{name} has another name yet",
    fix="read {to}",
    page="member_gone.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=SAID_BY_ITS_PATCH_OR_OVERRIDE,
    edit=Edit.RENAME,
    argument=False,
)
METHOD_REMOVED = Rule(
    id="method-removed",
    what="{name}() is gone",
    early="{name}() is not there yet",
    fix="call {to}",
    page="member_gone.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=SAID_BY_ITS_PATCH_OR_OVERRIDE,
    edit=Edit.NONE,
    argument=False,
)
METHOD_RENAMED = Rule(
    id="method-renamed",
    what="{name}() has another name",
    early="{name}() has another name yet",
    fix="use {to}",
    page="member_gone.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=SAID_BY_ITS_PATCH_OR_OVERRIDE,
    edit=Edit.RENAME,
    argument=False,
)
ENUM_MEMBER_REMOVED = Rule(
    id="enum-member-removed",
    what="enum member {name} is gone",
    early="enum member {name} is not there yet",
    fix="use {to}",
    page="member_gone.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
PATCH_TARGET_MISSING = Rule(
    id="patch-target-missing",
    what="the target of the hook or patch, {name}, is gone: it would silently not apply",
    early="the target of the hook or patch, {name}, is not there yet: it would silently not apply",
    fix="patch {to}",
    page="member_gone.toml",
    severity=Severity.ERROR,
    role="patch",
    absent=True,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


_INSISTED = {"insisted": Severity.ERROR, "refused": Severity.WARNING}
"""Kind of question that code fails by: ``assert hasattr(…)``; a branch that raises."""
_BUILTIN = frozenset({Builtin, ListValue, DictValue, TupleValue})


def detect_attribute(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """A read, a write or a probe of an attribute."""
    node = file.nodes[use.node]
    if type(node) is not Attr:
        return UNKNOWN
    base, name = node.base, node.name
    value = state.evaluator.value(index, base)
    if not value.alternatives or all(type(each) in _BUILTIN for each in value.alternatives):
        fits = operation_on_kind.detect_kind(state, index, node, use)
        if fits is not None:
            return fits
    if not value.alternatives:
        value = state.evaluator.members.by_attribute(name)
    if not value.alternatives:
        return UNKNOWN
    look = state.evaluator.members.look(value, name)
    pair = result_form.detect_pair(state, index, node, use, value)
    if pair is not None:
        return pair
    if look.found:
        return Outcome(Status.OK, found=look.found, named=value.named)
    if not look.lost:
        return UNKNOWN
    owner = look.lost[0]
    symbol = f"{owner.name}.{name}" if owner.qual else f"{owner.module}:{name}"
    on_object = isinstance(value.alternatives[0], (ObjectOf, OwnObject, OwnSuper))
    loosely = any(type(each) is ObjectOf and each.exact is None for each in value.alternatives)
    lost = Outcome(
        Status.BROKEN,
        "attribute",
        symbol,
        owner=owner,
        name=name,
        detail="object" if on_object else "class",
        new="held" if loosely else "",
        named=value.named,
    )
    reason = member_silence.silence_of(state, index, file, use, node, owner, value.named)
    return lost if reason is None else lost.silenced(reason.id)


def name_agrees(judging: Judging, case: Case, file: File, use: Use) -> bool:
    """Whether an object that goes by a name behaves as one of the class it is taken for.

    Everything that is read off it was there in the release in which it worked; half of it,
    where the name is no plain word.
    """
    good = judging.good(case).found
    node = file.nodes[use.node]
    if use.kind in (UseKind.CALL, UseKind.UNPACK) and type(node) is Call:
        node = file.nodes[node.callee]
    if not good or good[0].owner is None or type(node) is not Attr:
        return True
    surface = judging.catalog.surface(judging.releases[case.good])
    owner = surface.find(good[0].owner.module, good[0].owner.qual)
    evaluator = judging.evaluator
    read = evaluator.index.attributes.get((case.check.file, node.base), set())
    if owner is None or not read:
        return True
    there = surface.member_names(owner)
    for place in read - there:
        if any(place in surface.member_names(each) for each in islice(derived(surface, owner), 20)):
            there = there | {place}
    known = len(read & there)
    return known == len(read) if is_weak(case.entry.outcome.named) else 2 * known >= len(read)


def has_alternative(judging: Judging, case: Case, file: File, use: Use) -> bool:
    """Whether another of the same list is there in this release."""
    return any(
        judging.timeline.entry(number, case.at).fine
        for number in judging.groups.get((case.check.file, use.group), ())
    )


def judge_lost_attribute(judging: Judging, case: Case) -> Finding | None:
    """An attribute that is not there: of a builtin kind before, or of a class that had it."""
    if judging.good(case).what == "kind":
        return operation_on_kind.judge_kind(judging, case)
    return judge_attribute(judging, case)


def judge_probe(judging: Judging, case: Case) -> Finding | None:
    """``hasattr`` and ``getattr`` with a default never fail; what they turn off is told."""
    file, use = judging.use(case)
    weight = Weight(Severity.ERROR)
    insisted = use.name in _INSISTED and not attempted(file, use)
    unanswered = use.name == "has" and not other_way(judging, case, file, use)
    if reasons.ASKED_FIRST.holds(not insisted and not unanswered):
        weight = weight.at_most(Severity.NOTE, reasons.ASKED_FIRST)
    elif insisted:
        weight = Weight(_INSISTED[use.name])
    elif unanswered:
        weight = weight.at_most(Severity.WARNING, reasons.TURNED_OFF)
    made = judge_attribute(judging, case)
    if made is None:
        return None
    return with_changes(made, severity=weight.severity, softened=weight.softened, role="guard")


def attempted(file: File, use: Use) -> bool:
    """Whether a ``try`` stands around a use, whatever it catches."""
    guard = use.guard
    while guard and file.guards[guard].kind != "try":
        guard = file.guards[guard].parent
    return bool(guard)


def other_way(judging: Judging, case: Case, file: File, use: Use) -> bool:
    """Whether the branch a failed ``hasattr`` leads to does something equivalent."""
    node = file.nodes[use.node]
    wanted = Has(node.base, node.name) if type(node) is Attr else None
    relevant = [
        guard
        for guard in file.guards[1:]
        if guard.kind == "if" and file.nodes[guard.condition] == wanted
    ]
    if not relevant or any(guard.positive and guard.way_out for guard in relevant):
        return True
    # another question of the same kind, answered differently now: the other way
    for number, check in enumerate(judging.timeline.checks):
        if check.kind != "use" or check.file != case.check.file or number == case.number:
            continue
        other = file.uses[check.number]
        if other.kind is UseKind.PROBE and other.function == use.function:
            now = judging.timeline.entry(number, case.at)
            if now.fine and not judging.timeline.entry(number, case.last_ok or 0).fine:
                return True
    return False


def still_there(judging: Judging, case: Case, found: Symbol) -> bool:
    """Whether the present release has a member of another class than the one that lacks it."""
    owner = case.entry.outcome.owner
    if found.owner is None or owner is None or found.owner.name == owner.name:
        return False
    return (
        judging.catalog.surface(judging.releases[case.at]).find(found.module, found.qual)
        is not None
    )


def judge_attribute(judging: Judging, case: Case) -> Finding | None:
    """A lost member: removed, renamed or moved, by history and suggestion."""
    file, use = judging.use(case)
    outcome = case.entry.outcome
    good = judging.good(case)
    found = good.found[0] if good.found else None
    written = spelled(judging, case, file, use, found)
    severity = judging.severity(case)
    if reasons.ELSEWHERE.holds(
        case.last_ok is None and outcome.detail == "object" and has_elsewhere(judging, case)
    ):
        judging.silence(case, reasons.ELSEWHERE)
        return None
    suggestion: Suggestion | None
    if reasons.ONE_OF_SEVERAL.holds(
        outcome.new == "held" and found is not None and still_there(judging, case, found)
    ):
        judging.silence(case, reasons.ONE_OF_SEVERAL)
        return None
    if found is not None and found.owner is not None:
        changed = judge_retyped(judging, case, file, use, found)
        if changed is not None:
            return changed
        suggestion = judging.instead_of_member(case, found)
    else:
        suggestion = judging.instead_of_symbol(case, written, found)
    patch = use.kind in (UseKind.WRITE, UseKind.HOOK)
    on_object = outcome.detail == "object"
    if reasons.WRITTEN.holds(use.kind is UseKind.WRITE and on_object):
        most = Severity.NOTE if case.entry.reach.caught else Severity.WARNING
        severity = severity.at_most(most, reasons.WRITTEN)
        patch = False
    text_alone = use.kind is UseKind.DOTTED and use.name != "import"
    if text_alone and use.name == "probe" and name_gone.answered(file, use):
        severity = severity.at_most(Severity.NOTE, reasons.ASKED_FIRST)
    elif reasons.TEXT_ALONE.holds(text_alone):
        severity = severity.at_most(Severity.WARNING, reasons.TEXT_ALONE)
    rule = rule_of(judging, outcome, found, suggestion)
    if patch:
        rule = PATCH_TARGET_MISSING
    return judging.finding(
        case,
        rule=rule,
        severity=severity,
        symbol=written,
        suggestion=suggestion,
        role=role_of(use) if patch or use.kind is UseKind.PROBE else "use",
        old=_facts(found),
    )


def has_elsewhere(judging: Judging, case: Case) -> bool:
    """Whether another class of the release has the member that this one lacks."""
    surface = judging.catalog.surface(judging.releases[case.at])
    return any(":" in place for place in surface.places(case.entry.outcome.name))


def spelled(judging: Judging, case: Case, file: File, use: Use, found: Symbol | None) -> str:
    """The lost symbol as a finding spells it."""
    outcome = case.entry.outcome
    node = file.nodes[use.node]
    if type(node) is Dotted:
        return spelled_dotted(judging, node.text, found, judging.releases[case.good])
    if found is not None and found.owner is not None:
        return found.name
    return outcome.symbol


def spelled_dotted(judging: Judging, text: str, found: Symbol | None, release: str) -> str:
    """``module:Qual`` of a dotted string: its module is the longest that the release had."""
    if ":" in text:
        return text
    surface = judging.catalog.surface(release)
    parts = text.split(".")
    for cut in range(len(parts), 0, -1):
        if surface.has_module(".".join(parts[:cut])):
            module, qual = ".".join(parts[:cut]), ".".join(parts[cut:])
            return f"{module}:{qual}" if qual else module
    return text


def rule_of(
    judging: Judging, outcome: Outcome, found: Symbol | None, suggestion: Suggestion | None
) -> Rule:
    """The rule that a lost name or member falls under."""
    moved = suggestion is not None and suggestion.evidence == "moved"
    if found is None or found.owner is None:
        if found is not None and found.kind == "module":
            return MODULE_REMOVED
        return SYMBOL_MOVED if moved else SYMBOL_REMOVED
    renamed = suggestion is not None and suggestion.evidence in (
        "same-position",
        "same-annotation",
        "alias",
    )
    if found.kind == "enum-member":
        return ENUM_MEMBER_REMOVED
    if found.kind == "method":
        return METHOD_RENAMED if renamed else METHOD_REMOVED
    if found.kind == "class":
        return SYMBOL_REMOVED
    return FIELD_RENAMED if renamed else FIELD_REMOVED


def judge_retyped(
    judging: Judging, case: Case, file: File, use: Use, found: Symbol
) -> Finding | None:
    """What the attribute is read off is of another class now."""
    owner = case.entry.outcome.owner
    if owner is None or owner.kind != "class" or found.owner is None:
        return None
    node = file.nodes[use.node]
    if type(node) is not Attr or type(file.nodes[node.base]) is not Call:
        return None
    names = {each.qual for each in judging.catalog.surface(judging.releases[case.at]).mro(owner)}
    old_surface = judging.catalog.surface(judging.releases[case.good])
    names |= {each.qual for each in old_surface.mro(found.owner)}
    if found.owner.qual in {owner.qual} or (owner.qual in names and found.owner.qual in names):
        at_old = old_surface.find(owner.module, owner.qual)
        if at_old is None or found.owner in old_surface.mro(at_old):
            return None
    number = judging.call_of.get((case.check.file, node.base))
    if number is None:
        return None
    made = judging.timeline.entry(number, case.good).outcome.found
    if not made or not isinstance(made[0].node, Function):
        return None
    now = judging.catalog.surface(judging.releases[case.at])
    symbol = now.find(made[0].module, made[0].qual) or made[0]
    return judging.finding(
        case,
        rule=RETURN_CHANGED,
        symbol=made[0].name,
        suggestion=judging.replacements.of_return(symbol, 0, now),
        role="call",
        old=made[0].node.returns,
        new=symbol.node.returns if isinstance(symbol.node, Function) else "",
        detail=HAS_NO.format(kind=owner.qual, name=case.entry.outcome.name),
    )


def _facts(found: Symbol | None) -> str:
    """What a lost symbol was, in a few words."""
    if found is None:
        return ""
    if isinstance(found.node, Attribute):
        return textwrap.shorten(found.node.annotation, 120, placeholder=" ...")
    return ""


CAUSE = Cause(
    detects={UseKind.READ: detect_attribute, UseKind.PROBE: detect_attribute},
    failures=(
        Failure(
            what="attribute",
            says="{name} is not there",
            catches=ATTRIBUTE_ERRORS,
            judge=judge_lost_attribute,
        ),
        Failure(
            what="module-by-name",
            says="module {name} is not there",
            catches=IMPORT_ERRORS,
            judge=judge_attribute,
        ),
        Failure(
            what="hook",
            says="the target of the hook, {name}, is not there",
            catches=NOTHING,
            judge=judge_attribute,
        ),
    ),
    rules=(
        FIELD_REMOVED,
        FIELD_RENAMED,
        METHOD_REMOVED,
        METHOD_RENAMED,
        ENUM_MEMBER_REMOVED,
        PATCH_TARGET_MISSING,
    ),
)
