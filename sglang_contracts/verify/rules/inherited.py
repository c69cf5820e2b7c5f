"""Findings on what a plugin's functions and classes stand in for: overrides, hooks, duties."""

from __future__ import annotations

from sglang_contracts.plugin.ir.records import Use, UseKind
from sglang_contracts.surface.model import VARIADIC, Class, Function, ParameterKind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import Status
from sglang_contracts.verify.answers.spans import nearest, start
from sglang_contracts.verify.findings.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, with_changes
from sglang_contracts.verify.rules.history import Entry, Timeline
from sglang_contracts.verify.rules.misfits import Misfits
from sglang_contracts.verify.rules.registry import Check
from sglang_contracts.verify.suggest.replacements import Replacements
from sglang_contracts.verify.values.signature_fit import text as signature_text
from sglang_contracts.verify.values.subclasses import derived

_PASSES = {
    "awaited": "SGLang awaits it: make it a coroutine",
    "not-awaited": "SGLang does not await it: make it a plain function",
    "deferred": "SGLang's does its work when it is called, a generator at its first step only",
}


def _takes(function: Symbol, name: str) -> bool:
    """Whether a function of the release has a parameter."""
    node = function.node
    return isinstance(node, Function) and any(each.name == name for each in node.parameters)


class Inherited(Misfits):
    """Words what the plugin's side owes and no longer gives."""

    def __init__(self, timeline: Timeline, replacements: Replacements) -> None:
        super().__init__(timeline, replacements)
        self._required: dict[tuple[str, str, int | None], bool] = {}
        self._courses: dict[tuple[int, str], tuple[bytes, bytes]] = {}

    def _stand_in(self, case: Case, use: Use) -> Finding | None:
        """A hook or a patch whose function no longer fits what its target is called with."""
        made = self._signature_finding(case)
        if made is None:
            return None
        return with_changes(made, role="hook" if use.kind is UseKind.HOOK else "patch")

    def _signature_finding(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.owner is None or case.last_ok is None:
            return None
        new = self.releases[case.at]
        after = self.catalog.surface(new)
        severity = self._severity(case)
        if self._departs(case, outcome.owner):
            severity = Severity.NOTE  # it never stood in for the base's: its callers are its own
        elif outcome.detail == "special" or (
            outcome.detail == "rare" and not self._gained(case, outcome.owner, outcome.name)
        ):
            severity = Severity.NOTE  # on a special path only, which this class may never see
        elif outcome.detail in ("rare", "deferred"):
            severity = min(severity, Severity.WARNING, key=lambda each: each.rank)
        return self._base(
            case,
            rule="override-signature",
            severity=severity,
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=self.replacements.of_call(outcome.owner, outcome.name, new, after),
            role="override",
            new=self._signature(outcome.owner, after),
            detail=_PASSES.get(outcome.detail, "") or self._passed(case),
        )

    def _departs(self, case: Case, target: Symbol) -> bool:
        """Whether an override asks for what the base did not take in the last good release either.

        Nobody who calls the base's form could have called it then: its callers are its own.
        """
        if case.check.kind != "override" or case.last_ok is None:
            return False
        before = self.catalog.surface(self.releases[case.last_ok])
        was = before.find(target.module, target.qual)
        if was is None or not isinstance(was.node, Function):
            return False
        theirs = was.node.parameters[1:]
        if any(each.kind is ParameterKind.VAR_POSITIONAL for each in theirs):
            return False
        own = self.files[case.check.file].functions[case.check.number].parameters[1:]
        asked = {
            each.name
            for each in own
            if not each.has_default and ParameterKind(each.kind) not in VARIADIC
        }
        refused = {each.name for each in theirs if each.required} - {each.name for each in own}
        # One name alone may be the same parameter under a name of its own.
        return bool(refused) and len(asked - {each.name for each in theirs}) > 1

    def _gained(self, case: Case, target: Symbol, name: str) -> bool:
        """Whether what is passed is a parameter that the method did not have before."""
        good = self._good(case).found
        return _takes(target, name) and bool(good) and not _takes(good[0], name)

    def _override(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.what == "override":
            return self._signature_finding(case)
        return self._orphan(case)

    def _orphan(self, case: Case) -> Finding | None:
        """An override whose base method went: dead code, or a duty that moved."""
        if case.last_ok is None:
            return None
        good = self.timeline.entry(case.number, case.last_ok).outcome
        if not good.found:
            return None
        found = good.found[0]
        old, new = self.releases[case.last_ok], self.releases[case.at]
        before = self.catalog.surface(old)
        name = case.entry.outcome.name
        called = [each for each in before.callers(name) if each[1].receiver != "super()"]
        first = self.catalog.surface(self.releases[case.first])
        replaced = self._duty_moved(found, before, first)
        contracted = self.replacements.contract(found.name, new)
        severity = self._severity(case)
        idle = found.kind == "attribute" or (not called and found.kind == "method")
        if idle or not (replaced or contracted):
            severity = Severity.NOTE
        elif isinstance(found.node, Function) and found.node.role & Role.ABSTRACT:
            # it was a duty: without it the class is incomplete, with it there is dead code
            severity = min(severity, Severity.WARNING, key=lambda each: each.rank)
        return self._base(
            case,
            rule="override-orphaned",
            severity=severity,
            symbol=found.name,
            locations=self._location(case),
            suggestion=self._not_own(case, self.replacements.of_member(found, old, new))
            or self._not_own(case, Suggestion(replaced[0], "same-position") if replaced else None),
            role="override",
        )

    def _passed(self, case: Case) -> str:
        """What SGLang passes: what broke it first, and what it is now where that is another."""
        now = case.entry.outcome.name
        owner = case.entry.outcome.owner
        if case.entry.outcome.detail == "missing" and owner and not _takes(owner, now):
            return f"SGLang passes no {now}"
        began = self.timeline.entry(case.number, case.first).outcome.name
        if not now:
            return ""
        return f"SGLang passes {now}" if began in ("", now) else f"SGLang passes {began} and {now}"

    def _not_own(self, case: Case, suggestion: Suggestion | None) -> Suggestion | None:
        """A suggestion, unless the plugin's class overrides it already."""
        qual = case.check.name.rpartition(".")[0]
        own = self.files[case.check.file].classes[qual].methods
        if suggestion is None or suggestion.evidence == "contract":
            return suggestion
        return None if suggestion.symbol.rpartition(".")[2] in own else suggestion

    @staticmethod
    def _duty_moved(found: Symbol, before: object, after: object) -> list[str]:
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
        return [
            f"{short}.{each}" for each in names if each not in had and not each.startswith("__")
        ]

    def _missing(self, number: int, check: Check, entry: Entry, index: int) -> list[Finding]:
        """Hooks that a class does not provide; each needs a release that did not require it."""
        made: list[Finding] = []
        for symbol in entry.outcome.found:
            name = symbol.qual.rsplit(".", 1)[-1]
            lacks, has = self._course_of(number, name)
            good, first = nearest(has, index), start(lacks, index)
            last = first - 1 if first > 0 else None
            case = Case(
                number, check, entry, index, first, last, good if good is not None else index
            )
            file = self.files[check.file]
            surface = self.catalog.surface(self.releases[index])
            suggestion = self.replacements.contract(symbol.name, self.releases[index])
            parameters = self.replacements.parameters(symbol, surface)
            if suggestion is None and parameters is not None:
                required = [each.name for each in parameters]
                text = f"{name}({required[0]})" if required else name
                suggestion = Suggestion(text, "signature", note=signature_text(name, parameters))
            owner = entry.outcome.owner
            key = (symbol.name, owner.name if owner else "", good)
            if key not in self._required:
                self._required[key] = self._obligatory(symbol, owner, index, good)
            if not self._required[key]:
                continue
            severity = self._severity(case) if good is not None else Severity.NOTE
            made.append(
                self._base(
                    case,
                    rule="hook-missing",
                    severity=severity,
                    symbol=symbol.name,
                    locations=(Location(file.path, file.classes[check.name].line),),
                    suggestion=suggestion,
                    role="subclass",
                )
            )
        return made

    def _course_of(self, number: int, name: str) -> tuple[bytes, bytes]:
        """Where a class lacks a hook that it has to provide, and where it does not."""
        course = self._courses.get((number, name))
        if course is None:
            entries = self.timeline.history(number)
            lacks = bytes(
                each.broken and any(s.qual.rsplit(".", 1)[-1] == name for s in each.outcome.found)
                for each in entries
            )
            has = bytes(
                not lacking and each.outcome.status is not Status.UNKNOWN
                for each, lacking in zip(entries, lacks, strict=True)
            )
            course = self._courses[number, name] = (lacks, has)
        return course

    def _obligatory(
        self, symbol: Symbol, base: Symbol | None, index: int, good: int | None
    ) -> bool:
        """Whether a class has to provide a hook.

        An abstract one, yes. One that only raises ``NotImplementedError``: where it did not in a
        release before, and every class of the release that derives from the base provides it.
        """
        node = symbol.node
        if not isinstance(node, Function) or node.role & Role.ABSTRACT:
            return True
        if good is None or base is None:
            return False
        before = self.catalog.surface(self.releases[good]).find(symbol.module, symbol.qual)
        if (before is not None and isinstance(before.node, Function)) and (
            before.node.role & (Role.UNIMPLEMENTED | Role.ABSTRACT)
        ):
            return False
        surface = self.catalog.surface(self.releases[index])
        name, kin = symbol.qual.rsplit(".", 1)[-1], 0
        for each in derived(surface, base):
            if surface.member(each, name) == symbol:
                return False
            kin += 1
        return kin >= 3
