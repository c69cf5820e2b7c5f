"""Overrides of methods that a base class has no more, and that nobody calls."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Attr, Call, Self
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.surface.model import Attribute, Class, Function, Role, Value
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion
from sglang_contracts.verify.rules import plugin_facts
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.values.value import is_weak

OVERRIDE_ORPHANED = Rule(
    id="override-orphaned",
    what="nothing in SGLang calls an override of {name}() any more",
    early="nothing in SGLang calls an override of {name}() yet",
    fix="override {to}",
    page="override_orphaned.toml",
    severity=Severity.ERROR,
    role="override",
    absent=True,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


_QUOTED = re.compile(r"(?=(['\"])(\w+)\1)")
"""Each word in quotes; one quotation mark may end one and begin the next."""


def still_called(state: Detection, name: str, bases: Sequence[Symbol]) -> bool:
    """Whether the release may still call something of that name on an object of a class.

    What is called on an object of which nothing is known is meant for the classes that define
    it; only where none does, for whoever has it.
    """
    others: bool | None = None
    for module, call in state.lens.callers(name):
        if call.receiver == "super()":
            continue
        known = call.receiver == "self" or (
            call.receiver in state.evaluator.members.known_as and not is_weak(call.receiver)
        )
        if not known:
            if others is None:
                others = defined_by_others(state, name, bases)
            if not others:
                return True
        elif any(state.upstream.meant_for(module, call.receiver, base) for base in bases):
            return True
    return False


def defined_by_others(state: Detection, name: str, bases: Sequence[Symbol]) -> bool:
    """Whether classes have a method of that name, and none of them is related to a base."""
    below = {each.name for each in bases}
    above = {each.name for base in bases for each in state.lens.mro(base)}
    for definer in state.lens.definers(name):
        if definer[0] in above or not below.isdisjoint(definer):
            return False
    return any(":" in each for each in state.lens.places(name))


def mentioned(state: Detection, bases: Sequence[Symbol], name: str) -> bool:
    """Whether a base's own modules still name the method: a shim looks it up by its name."""
    modules = dict.fromkeys(each.module for base in bases for each in state.lens.mro(base))
    return any(name in quoted(state, module) for module in modules)


def quoted(state: Detection, module: str) -> frozenset[str]:
    """Names that stand as strings or as keys in what a module, or a class of it, holds."""

    def work() -> frozenset[str]:
        record = state.lens.module(module)
        if record is None:
            return frozenset()
        held: list[Attribute | Value] = list(record.values.values())
        for each in record.classes.values():
            held += each.attributes.values()
        found = {key for each in held for key in each.keys}
        found.update(text for each in held for _, text in _QUOTED.findall(each.value))
        return frozenset(found)

    return state.lens.once(("quoted", module), work)


def judge_orphan(judging: Judging, case: Case) -> Finding | None:
    """An override whose base method went: dead code, or a duty that moved."""
    if case.last_ok is None:
        return None
    good = judging.timeline.entry(case.number, case.last_ok).outcome
    if not good.found:
        return None
    found = good.found[0]
    old, new = judging.releases[case.last_ok], judging.releases[case.at]
    before = judging.catalog.surface(old)
    name = case.entry.outcome.name
    called = [each for each in before.callers(name) if each[1].receiver != "super()"]
    first = judging.catalog.surface(judging.releases[case.first])
    replaced = moved_requirements(found, before, first)
    contracted = judging.replacements.contract(found.name, new)
    severity = judging.severity(case)
    idle = found.kind == "attribute" or (not called and found.kind == "method")
    gained = [*replaced, contracted.symbol] if contracted else replaced
    duty = isinstance(found.node, Function) and bool(found.node.role & Role.ABSTRACT)
    if reasons.NOTHING_INSTEAD.holds(idle or not gained):
        severity = severity.at_most(Severity.NOTE, reasons.NOTHING_INSTEAD)
    elif reasons.KEPT_BESIDE.holds(kept_beside(judging, case, found, gained)):
        severity = severity.at_most(Severity.NOTE, reasons.KEPT_BESIDE)
    elif reasons.WAS_DUTY.holds(duty):
        severity = severity.at_most(Severity.WARNING, reasons.WAS_DUTY)
    return judging.finding(
        case,
        rule=OVERRIDE_ORPHANED,
        severity=severity,
        symbol=found.name,
        suggestion=not_own(judging, case, judging.replacements.of_member(found, old, new))
        or not_own(judging, case, Suggestion(replaced[0], "same-position") if replaced else None),
        role="override",
    )


def kept_beside(judging: Judging, case: Case, found: Symbol, gained: Sequence[str]) -> bool:
    """Whether the plugin has the new override as well, or calls the old one from one in use.

    A plugin that runs on releases before and after keeps both: the old one is no break.

    Args:
        judging: The plugin's checks.
        case: The override.
        found: What it overrode.
        gained: What took its place, as ``Class.name``: by a contract, or new in the class that had
            it when it lost it.
    """
    index, qual = case.check.file, case.check.name.rpartition(".")[0]
    state = judging.timeline.checker.state
    wanted = {each.rpartition(".")[2] for each in gained}
    for file, each in plugin_facts.with_subclasses(state, index, qual):
        if not wanted.isdisjoint(plugin_facts.own_members(state, file, each)):
            return True
    after = judging.catalog.surface(judging.releases[case.at])
    owner = after.find(found.owner.module, found.owner.qual) if found.owner else None
    if owner is None:
        return False
    there, own = after.member_names(owner), judging.files[index]
    name = case.entry.outcome.name
    others = {k: v for k, v in own.classes[qual].methods.items() if v != case.check.number}
    return any(each in there and calls_own(own, others[each], qual, name) for each in others)


def calls_own(file: File, function: int, qual: str, name: str) -> bool:
    """Whether a method calls another one of its object."""
    return any(
        use.kind is UseKind.CALL
        and use.function == function
        and type(node := file.nodes[use.node]) is Call
        and type(callee := file.nodes[node.callee]) is Attr
        and callee.name == name
        and file.nodes[callee.base] == Self(qual)
        for use in file.uses
    )


def not_own(judging: Judging, case: Case, suggestion: Suggestion | None) -> Suggestion | None:
    """A suggestion, unless the plugin's class overrides it already."""
    qual = case.check.name.rpartition(".")[0]
    own = judging.files[case.check.file].classes[qual].methods
    if suggestion is None or suggestion.evidence == "contract":
        return suggestion
    return None if suggestion.symbol.rpartition(".")[2] in own else suggestion


def moved_requirements(found: Symbol, before: object, after: object) -> list[str]:
    """What the class that defined the hook gained when it lost it."""
    owner = found.owner
    if owner is None:
        return []
    now = after.find(owner.module, owner.qual)  # type: ignore[attr-defined]
    was = before.find(owner.module, owner.qual)  # type: ignore[attr-defined]
    if now is None or was is None or not isinstance(now.node, Class):
        return []
    had = before.members(was)  # type: ignore[attr-defined]
    names = [*now.node.methods, *now.node.attributes]
    short = owner.qual.rsplit(".", 1)[-1]
    return [f"{short}.{each}" for each in names if each not in had and not each.startswith("__")]


CAUSE = Cause(
    detects={},  # an override is looked at with its signature
    failures=(
        Failure(
            what="orphan",
            says="nothing calls an override of {name}()",
            catches=NOTHING,
            judge=judge_orphan,
        ),
    ),
    rules=(OVERRIDE_ORPHANED,),
)
