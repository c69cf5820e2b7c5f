"""Attributes that SGLang reads and that only a method sets which the plugin replaces.

A method that is overridden without ``super()``, or patched, no longer sets what the release's own
sets. Where nothing else of the class does, what reads it raises AttributeError. Told of attributes
that this became true of after a release in which it was not: what the plugin left out all along, it
can do without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sglang_contracts.plugin.ir.nodes import Attr, Call, Self
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.surface.model import Class, Role
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.answers.spans import nearest, start
from sglang_contracts.verify.findings.finding import Finding, Location, Severity
from sglang_contracts.verify.rules import hook_missing, plugin_facts
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.check import Check
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.history import Entry
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.rules.supplied import supplies_own
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.values.value import ClassRef

ATTRIBUTE_UNSET = Rule(
    id="attribute-unset",
    what="SGLang reads {name}, and only the method sets it that the plugin replaces",
    fix="set {to}",
    otherwise="set self.{last} in the plugin's method as well, or call super()",
    page="attribute_unset.toml",
    severity=Severity.WARNING,
    role="override",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
KIND = "setter"
"""Kind of check: a method of the plugin in place of one of the release (``name``: the qualified
name of an override; empty: what a use of that number writes)."""
_OTHER = Role.STATIC | Role.CLASS | Role.PROPERTY


class Family(NamedTuple):
    """What the methods of a class and its bases do with attributes of their object."""

    writers: dict[str, set[str]]
    """Attribute → names of the methods that assign it."""
    readers: dict[str, set[str]]
    """Attribute → names of the methods that read or call it."""
    declared: set[str]
    """Names that the classes themselves have: methods, fields, class attributes."""


def checks(state: Detection, index: int, file: File) -> list[Check]:
    """What a file puts in the place of a method without calling the one that was there."""
    found = []
    calling = callers_of_replaced(state, index)
    for qual, record in file.classes.items():
        if state.evaluator.index.may_derive(index, qual) and not record.open:
            found += [
                Check(KIND, index, number, f"{qual}.{name}")
                for name, number in record.methods.items()
                if (number, name) not in calling and not _magic(name)
            ]
    for number, use in enumerate(file.uses):
        if use.kind is UseKind.WRITE and use.value:
            node = file.nodes[use.node]
            own = state.evaluator.index.own_function(index, use.value)
            if type(node) is not Attr or own is None or _magic(node.name):
                continue
            if (own[1], node.name) not in callers_of_replaced(state, own[0]):
                found.append(Check(KIND, index, number))
    return found


def _magic(name: str) -> bool:
    return name.startswith("__") and name != "__init__"


def callers_of_replaced(state: Detection, index: int) -> frozenset[tuple[int, str]]:
    """Functions of a file, and names of the methods that each calls on another than ``self``."""

    def work() -> frozenset[tuple[int, str]]:
        file = state.files[index]
        return frozenset(
            (use.function, callee.name)
            for use in file.uses
            if use.kind is UseKind.CALL
            and type(call := file.nodes[use.node]) is Call
            and type(callee := file.nodes[call.callee]) is Attr
            and type(file.nodes[callee.base]) is not Self
        )

    return state.lens.once(("callers-of-replaced", index), work)


def detect_unset(state: Detection, check: Check) -> Outcome:
    """What a method of the plugin leaves unset that the one it replaces sets."""
    file = state.files[check.file]
    if check.name:
        qual, _, name = check.name.rpartition(".")
        bases, complete = state.evaluator.members.upstream_bases(check.file, qual)
        if not bases or not complete:
            return UNKNOWN
        outcome = _outcome(state, bases, name, _own(state, check.file, qual))
        if outcome.status is Status.BROKEN and state.upstream.self_calls.calls_base(
            check.file, qual, name
        ):
            return UNKNOWN
        return outcome
    use = file.uses[check.number]
    node = file.nodes[use.node]
    assert type(node) is Attr
    held = state.evaluator.value(check.file, node.base).alternatives
    if len(held) != 1 or type(held[0]) is not ClassRef:
        return UNKNOWN
    owner = held[0].symbol
    return _outcome(state, [owner], node.name, _Patch(state, owner))


class _OwnClass(NamedTuple):
    """A class of the plugin: what it sets and what it replaces."""

    state: Detection
    file: int
    qual: str
    members: frozenset[str]

    def sets(self, name: str) -> bool:
        """Whether it, a class below it, or the plugin from outside sets an attribute."""
        return name in self.members or supplies_own(self.state, self.file, self.qual, name)

    def replaces(self, name: str) -> bool:
        """Whether it has a method of that name that does not call the one it replaces."""
        calls_base = self.state.upstream.self_calls.calls_base
        return name in self.members and not calls_base(self.file, self.qual, name)


class _Patch(NamedTuple):
    """A class of the release, some of whose methods the plugin patches."""

    state: Detection
    owner: Symbol

    def sets(self, name: str) -> bool:
        """Whether the plugin sets an attribute on what may be an object of the class."""
        return bool(self.state.written.get(name))

    def replaces(self, name: str) -> bool:
        """Whether the plugin patches another method of it: what that one does is not known."""
        return False


def _own(state: Detection, index: int, qual: str) -> _OwnClass:
    members: set[str] = set()
    below = (index, qual) in state.extended
    for file, each in (
        plugin_facts.with_subclasses(state, index, qual) if below else [(index, qual)]
    ):
        members |= plugin_facts.own_members(state, file, each)
    return _OwnClass(state, index, qual, frozenset(members))


def _outcome(
    state: Detection, bases: Sequence[Symbol], name: str, own: _OwnClass | _Patch
) -> Outcome:
    target = next((each for base in bases if (each := state.lens.member(base, name))), None)
    if target is None or not isinstance(target.node, Recorded) or target.owner is None:
        return UNKNOWN
    if target.node.role & _OTHER:
        return UNKNOWN
    unset = [
        Symbol(target.owner.module, f"{target.owner.qual}.{each}", "attribute", None, target.owner)
        for each in target.node.writes
        if not own.sets(each) and _needed(state, bases, name, each, own)
    ]
    if not unset:
        return Outcome(Status.OK, found=(target,))
    return Outcome(
        Status.BROKEN,
        "unset",
        unset[0].name,
        owner=target.owner,
        name=name,
        found=tuple(unset),
    )


def _needed(
    state: Detection, bases: Sequence[Symbol], method: str, attribute: str, own: _OwnClass | _Patch
) -> bool:
    """Whether something else reads an attribute, and nothing else sets it."""
    readers: set[str] = set()
    for base in bases:
        family = family_of(state.lens, base)
        if attribute in family.declared:
            return False
        if any(not own.replaces(each) for each in family.writers.get(attribute, set()) - {method}):
            return False
        readers |= family.readers.get(attribute, set())
    readers = {each for each in readers - {method} if not own.replaces(each)}
    place = (own.file, own.qual) if isinstance(own, _OwnClass) else None
    return bool(readers) and state.upstream.self_calls.run(place, bases, readers, (method,))


def family_of(lens: Lens, owner: Symbol) -> Family:
    """What the methods of a class and its bases do with attributes of their object."""

    def work() -> Family:
        writers: dict[str, set[str]] = {}
        readers: dict[str, set[str]] = {}
        declared: set[str] = set()
        for each in lens.mro(owner):
            node = each.node
            if not isinstance(node, Class):
                continue
            declared.update(node.methods, node.classes)
            declared.update(name for name, held in node.attributes.items() if not held.on_self)
            for name, method in node.methods.items():
                for attribute in method.writes:
                    writers.setdefault(attribute, set()).add(name)
                for attribute in (*method.reads, *method.calls):
                    readers.setdefault(attribute, set()).add(name)
        return Family(writers, readers, declared)

    return lens.once(("family", owner.module, owner.qual), work)


def judge_unset(
    judging: Judging, number: int, check: Check, entry: Entry, index: int
) -> list[Finding]:
    """Attributes left unset; each needs a release in which it was not."""
    made = []
    for symbol in entry.outcome.found:
        lacks, has = hook_missing.course_of(judging, number, symbol.qual.rsplit(".", 1)[-1])
        good, first = nearest(has, index), start(lacks, index)
        if good is None or good > index:
            continue
        case = Case(number, check, entry, index, first, first - 1, good)
        place, role = location(judging, check)
        severity = judging.severity(case, ATTRIBUTE_UNSET.severity)
        if reasons.LEFT_OUT_BEFORE.holds(judging.timeline.entry(number, good).broken):
            severity = severity.at_most(Severity.NOTE, reasons.LEFT_OUT_BEFORE)
        made.append(
            judging.finding(
                case,
                rule=ATTRIBUTE_UNSET,
                severity=severity,
                symbol=symbol.name,
                locations=(place,),
                role=role,
            )
        )
    return made


def location(judging: Judging, check: Check) -> tuple[Location, str]:
    """Where the plugin replaces the method, and how."""
    file = judging.files[check.file]
    if check.name:
        return Location(file.path, file.functions[check.number].line), "override"
    use: Use = file.uses[check.number]
    return Location(file.path, use.line, use.column), "patch"


CAUSE = Cause(
    detects={},  # a method is looked at against the class that it is put into
    failures=(
        Failure(
            what="unset",
            says="nothing sets {name}",
            catches=NOTHING,
            judge=None,
        ),
    ),
    rules=(ATTRIBUTE_UNSET,),
)
