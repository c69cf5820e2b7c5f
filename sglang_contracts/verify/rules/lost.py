"""Findings on what is looked up by name and not there: imports, members, registry keys."""

from __future__ import annotations

import textwrap
from itertools import islice

from sglang_contracts.plugin.ir.nodes import Attr, Call, Dotted, Found, Has, Node, Not, Unknown
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.surface.model import Attribute, Function
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import Outcome
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, Judging, role_of, with_changes
from sglang_contracts.verify.rules.history import Timeline
from sglang_contracts.verify.suggest.replacements import Replacements
from sglang_contracts.verify.values.subclasses import derived
from sglang_contracts.verify.values.value import is_weak


class Lost(Judging):
    """Words what a release has lost."""

    def __init__(self, timeline: Timeline, replacements: Replacements) -> None:
        super().__init__(timeline, replacements)
        self._call_of = self._calls()
        self._groups: dict[tuple[int, int], list[int]] = {}
        for number, check in enumerate(timeline.checks):
            if check.kind == "use":
                group = self.files[check.file].uses[check.number].group
                if group:
                    self._groups.setdefault((check.file, group), []).append(number)
        self._agrees: dict[tuple[int, int], bool] = {}

    def _calls(self) -> dict[tuple[int, int], int]:
        """(file, node of a call) → number of its check."""
        found: dict[tuple[int, int], int] = {}
        for number, check in enumerate(self.timeline.checks):
            if check.kind == "use":
                use = self.files[check.file].uses[check.number]
                if use.kind is UseKind.CALL:
                    found[(check.file, use.node)] = number
        return found

    def _name_agrees(self, case: Case, file: File, use: Use) -> bool:
        """Whether an object that goes by a name behaves as one of the class it is taken for.

        Everything that is read off it was there in the release in which it worked; half of it,
        where the name is no plain word.
        """
        good = self._good(case).found
        node = file.nodes[use.node]
        if use.kind in (UseKind.CALL, UseKind.UNPACK) and type(node) is Call:
            node = file.nodes[node.callee]
        if not good or good[0].owner is None or type(node) is not Attr:
            return True
        surface = self.catalog.surface(self.releases[case.good])
        owner = surface.find(good[0].owner.module, good[0].owner.qual)
        evaluator = self.timeline.checker.evaluator
        read = evaluator.index.attributes.get((case.check.file, node.base), set())
        if owner is None or not read:
            return True
        there = surface.member_names(owner)
        for place in read - there:
            if any(
                place in surface.member_names(each) for each in islice(derived(surface, owner), 20)
            ):
                there = there | {place}
        known = len(read & there)
        return known == len(read) if is_weak(case.entry.outcome.named) else 2 * known >= len(read)

    def _alternative(self, case: Case, file: File, use: Use) -> bool:
        """Whether another of the same list is there in this release."""
        return any(
            self.timeline.entry(number, case.at).fine
            for number in self._groups.get((case.check.file, use.group), ())
        )

    def _probe(self, case: Case, file: File, use: Use) -> Finding | None:
        """``hasattr`` and ``getattr`` with a default never fail; what they turn off is told."""
        if case.last_ok is None:
            return None  # not there yet: that is what the question is for
        severity = Severity.NOTE
        if use.name == "has" and not self._other_way(case, file, use):
            severity = Severity.WARNING
        made = self._attribute(case, file, use)
        if made is None:
            return None
        return with_changes(made, severity=severity, role="guard")

    def _other_way(self, case: Case, file: File, use: Use) -> bool:
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
        for number, check in enumerate(self.timeline.checks):
            if check.kind != "use" or check.file != case.check.file or number == case.number:
                continue
            other = file.uses[check.number]
            if other.kind is UseKind.PROBE and other.function == use.function:
                now = self.timeline.entry(number, case.at)
                if now.fine and not self.timeline.entry(number, case.last_ok or 0).fine:
                    return True
        return False

    def _still_there(self, case: Case, found: Symbol) -> bool:
        """Whether the present release has a member of another class than the one that lacks it."""
        owner = case.entry.outcome.owner
        if found.owner is None or owner is None or found.owner.name == owner.name:
            return False
        return (
            self.catalog.surface(self.releases[case.at]).find(found.module, found.qual) is not None
        )

    @staticmethod
    def _answered(file: File, use: Use) -> bool:
        """Whether the branch that a failed ``find_spec`` leads to does something equivalent."""
        for guard in file.guards[1:]:
            node: Node = file.nodes[guard.condition] if guard.kind == "if" else Unknown()
            positive = guard.positive
            while type(node) is Not:
                node, positive = file.nodes[node.condition], not positive
            if node == Found(use.node) and positive and not guard.way_out:
                return False
        return True

    def _import(self, case: Case, use: Use) -> Finding:
        outcome = case.entry.outcome
        good = self._good(case)
        found = good.found[0] if good.found else None
        module, _, name = outcome.symbol.partition(":")
        suggestion = None
        if name:
            suggestion = self._for_symbol(case, outcome.symbol, found)
        moved = suggestion is not None and suggestion.evidence == "moved"
        if outcome.what == "module" and suggestion is None:
            suggestion = self._for_symbol(case, module, None)
            return self._base(
                case,
                rule="module-removed",
                severity=self._severity(case),
                symbol=module,
                locations=self._location(case),
                suggestion=suggestion,
            )
        return self._base(
            case,
            rule="symbol-moved" if moved else "symbol-removed",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=suggestion,
        )

    def _attribute(self, case: Case, file: File, use: Use) -> Finding | None:
        outcome = case.entry.outcome
        good = self._good(case)
        found = good.found[0] if good.found else None
        written = self._spelled(case, file, use, found)
        severity = self._severity(case)
        if case.last_ok is None and outcome.detail == "object" and self._elsewhere(case):
            return None  # not there yet, and another class has it: the object may be one of that
        suggestion: Suggestion | None
        if outcome.new == "held" and found is not None and self._still_there(case, found):
            return None  # one of several things that are put there, and the other has it still
        if found is not None and found.owner is not None:
            changed = self._retyped(case, file, use, found)
            if changed is not None:
                return changed
            suggestion = self._for_member(case, found)
        else:
            suggestion = self._for_symbol(case, written, found)
        patch = use.kind in (UseKind.WRITE, UseKind.HOOK)
        on_object = outcome.detail == "object"
        if use.kind is UseKind.WRITE and on_object:
            severity = min(severity, Severity.WARNING, key=lambda each: each.rank)
            patch = False
        if use.kind is UseKind.DOTTED and use.name != "import":
            asked = use.name == "probe" and self._answered(file, use)
            most = Severity.NOTE if asked else Severity.WARNING
            severity = min(severity, most, key=lambda each: each.rank)
        rule = self._lost_rule(outcome, found, suggestion)
        if patch:
            rule = "patch-target-missing"
        return self._base(
            case,
            rule=rule,
            severity=severity,
            symbol=written,
            locations=self._location(case),
            suggestion=suggestion,
            role=role_of(use) if patch or use.kind is UseKind.PROBE else "use",
            old=_facts(found),
        )

    def _elsewhere(self, case: Case) -> bool:
        """Whether another class of the release has the member that this one lacks."""
        surface = self.catalog.surface(self.releases[case.at])
        return any(":" in place for place in surface.places(case.entry.outcome.name))

    def _spelled(self, case: Case, file: File, use: Use, found: Symbol | None) -> str:
        """The lost symbol as DESIGN §7 spells it."""
        outcome = case.entry.outcome
        node = file.nodes[use.node]
        if type(node) is Dotted:
            return self._dotted(node.text, found, self.releases[case.good])
        if found is not None and found.owner is not None:
            return found.name
        return outcome.symbol

    def _dotted(self, text: str, found: Symbol | None, release: str) -> str:
        """``module:Qual`` of a dotted string: its module is the longest that the release had."""
        if ":" in text:
            return text
        surface = self.catalog.surface(release)
        parts = text.split(".")
        for cut in range(len(parts), 0, -1):
            if surface.has_module(".".join(parts[:cut])):
                module, qual = ".".join(parts[:cut]), ".".join(parts[cut:])
                return f"{module}:{qual}" if qual else module
        return text

    def _lost_rule(
        self, outcome: Outcome, found: Symbol | None, suggestion: Suggestion | None
    ) -> str:
        moved = suggestion is not None and suggestion.evidence == "moved"
        if found is None or found.owner is None:
            if found is not None and found.kind == "module":
                return "module-removed"
            return "symbol-moved" if moved else "symbol-removed"
        renamed = suggestion is not None and suggestion.evidence in (
            "same-position",
            "same-annotation",
            "alias",
        )
        if found.kind == "enum-member":
            return "enum-member-removed"
        if found.kind == "method":
            return "method-renamed" if renamed else "method-removed"
        if found.kind == "class":
            return "symbol-removed"
        return "field-renamed" if renamed else "field-removed"

    def _retyped(self, case: Case, file: File, use: Use, found: Symbol) -> Finding | None:
        """What the attribute is read off is of another class now."""
        owner = case.entry.outcome.owner
        if owner is None or owner.kind != "class" or found.owner is None:
            return None
        node = file.nodes[use.node]
        if type(node) is not Attr or type(file.nodes[node.base]) is not Call:
            return None
        names = {each.qual for each in self.catalog.surface(self.releases[case.at]).mro(owner)}
        old_surface = self.catalog.surface(self.releases[case.good])
        names |= {each.qual for each in old_surface.mro(found.owner)}
        if found.owner.qual in {owner.qual} or (owner.qual in names and found.owner.qual in names):
            at_old = old_surface.find(owner.module, owner.qual)
            if at_old is None or found.owner in old_surface.mro(at_old):
                return None
        number = self._call_of.get((case.check.file, node.base))
        if number is None:
            return None
        made = self.timeline.entry(number, case.good).outcome.found
        if not made or not isinstance(made[0].node, Function):
            return None
        now = self.catalog.surface(self.releases[case.at])
        symbol = now.find(made[0].module, made[0].qual) or made[0]
        return self._base(
            case,
            rule="return-changed",
            severity=self._severity(case),
            symbol=made[0].name,
            locations=self._location(case),
            suggestion=self.replacements.of_return(symbol, 0, now),
            role="call",
            old=made[0].node.returns,
            new=symbol.node.returns if isinstance(symbol.node, Function) else "",
            detail=f"{owner.qual} has no {case.entry.outcome.name}",
        )

    def _registry(self, case: Case, use: Use) -> Finding:
        outcome = case.entry.outcome
        said = self.replacements.contract(outcome.symbol, self.releases[case.at])
        return self._base(
            case,
            rule="registry-removed",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=said,
        )

    def _taken(self, case: Case) -> Finding | None:
        """A key that has to be free, and SGLang has an entry for."""
        if case.last_ok is None:
            return None
        return self._base(
            case,
            rule="behaviour-changed",
            severity=self._severity(case),
            symbol=case.entry.outcome.symbol,
            locations=self._location(case),
            old="there was no such entry",
            new="SGLang has one of its own",
        )


def _facts(found: Symbol | None) -> str:
    """What a lost symbol was, in a few words."""
    if found is None:
        return ""
    if isinstance(found.node, Attribute):
        return textwrap.shorten(found.node.annotation, 120, placeholder=" ...")
    return ""
