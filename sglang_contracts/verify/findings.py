"""Timelines → findings: the rule, the symbol, since when, how bad, what to use instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sglang_contracts.plugin.model import File, Use, UseKind
from sglang_contracts.surface.catalog import Surface
from sglang_contracts.surface.model import Attribute, Class, Function, Role
from sglang_contracts.surface.resolve import Symbol
from sglang_contracts.verify.checks import Check
from sglang_contracts.verify.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.outcome import Outcome, Status
from sglang_contracts.verify.replacements import Replacements
from sglang_contracts.verify.signature import text as signature_text
from sglang_contracts.verify.timeline import Entry, Timeline
from sglang_contracts.verify.values import compare_release, is_weak

_ROLES = {
    UseKind.IMPORT: "use",
    UseKind.READ: "use",
    UseKind.WRITE: "patch",
    UseKind.CALL: "call",
    UseKind.UNPACK: "call",
    UseKind.HOOK: "hook",
    UseKind.DOTTED: "use",
    UseKind.ITEM: "use",
    UseKind.REGISTER: "use",
    UseKind.PROBE: "guard",
}

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Case(NamedTuple):
    """A broken check in one release, with what history says."""

    number: int
    check: Check
    entry: Entry
    at: int
    first: int
    last_ok: int | None
    good: int
    """A release in which it is fine; usually the last one before."""


class Findings:
    """Findings of one plugin, release by release.

    Args:
        timeline: All checks over all releases.
        replacements: Where suggestions come from.
    """

    def __init__(self, timeline: Timeline, replacements: Replacements) -> None:
        self.timeline = timeline
        self.replacements = replacements
        self.releases = timeline.releases
        self.files: Sequence[File] = timeline.checker.files
        self.catalog = replacements.catalog
        self._call_of = self._calls()
        self._groups: dict[tuple[int, int], list[int]] = {}
        for number, check in enumerate(timeline.checks):
            if check.kind == "use":
                group = self.files[check.file].uses[check.number].group
                if group:
                    self._groups.setdefault((check.file, group), []).append(number)
        self._suggested: dict[tuple[str, str, int], Suggestion | None] = {}
        self._agrees: dict[tuple[int, int], bool] = {}
        self._required: dict[tuple[str, str, int | None], bool] = {}

    def _calls(self) -> dict[tuple[int, int], int]:
        """(file, node of a call) → number of its check."""
        found: dict[tuple[int, int], int] = {}
        for number, check in enumerate(self.timeline.checks):
            if check.kind == "use":
                use = self.files[check.file].uses[check.number]
                if use.kind is UseKind.CALL:
                    found[(check.file, use.node)] = number
        return found

    def at(self, index: int) -> list[Finding]:
        """All findings in one release (by index), not yet merged."""
        found: list[Finding] = []
        for number in self.timeline.ever_broken:
            check = self.timeline.checks[number]
            entry = self.timeline.entry(number, index)
            if not entry.broken:
                continue
            if check.kind == "class":
                found += self._missing(number, check, entry, index)
                continue
            good = self.timeline.good(number, index)
            if good is None and check.kind == "clause":
                good = index  # a contract says what changed; names were there all along
            if good is None:
                continue
            first, last = self.timeline.span(number, index)
            case = Case(number, check, entry, index, first, last, good)
            if check.kind == "clause":
                found.append(self._clause(case))
                continue
            made = self._override(case) if check.kind == "override" else self._use(case)
            if made is not None:
                found.append(self._wrongly_guarded(case, made))
        return found

    # -- helpers -----------------------------------------------------------------------------------

    def _base(self, case: Case, **more: object) -> Finding:
        dates = {
            "last_ok": self.releases[case.last_ok] if case.last_ok is not None else None,
            "first_broken": self.releases[case.first],
        }
        named = case.entry.outcome.named
        if case.last_ok is None and case.good > case.at and "detail" not in more:
            more["detail"] = f"comes with {self.releases[case.good]}"
        return Finding(**{**dates, "by_name": bool(named), **more})  # type: ignore[arg-type]

    def _good(self, case: Case) -> Outcome:
        return self.timeline.entry(case.number, case.good).outcome

    def _location(self, case: Case) -> tuple[Location, ...]:
        file = self.files[case.check.file]
        if case.check.kind == "use":
            use = file.uses[case.check.number]
            return (Location(file.path, use.line, use.column),)
        qual, _, name = case.check.name.rpartition(".")
        record = file.classes[qual]
        return (Location(file.path, record.lines.get(name, record.line)),)

    def _for_symbol(self, case: Case, written: str, found: Symbol | None) -> Suggestion | None:
        """What to use instead of a name."""
        forward = case.good < case.at
        old = self.releases[case.good]
        return self._kept(
            case,
            ("symbol", written, case.good),
            lambda new: self.replacements.of_symbol(written, found, old, new, forward=forward),
        )

    def _for_member(self, case: Case, found: Symbol) -> Suggestion | None:
        """The same for a member."""
        if case.good > case.at:
            return None  # not there yet: nothing took its place
        old = self.releases[case.good]
        return self._kept(
            case,
            ("member", found.name, case.good),
            lambda new: self.replacements.of_member(found, old, new),
        )

    def _kept(
        self,
        case: Case,
        key: tuple[str, str, int],
        make: Callable[[str], Suggestion | None],
    ) -> Suggestion | None:
        """A suggestion, kept from release to release while what it names is there.

        It is looked for where the thing went, in the first release that lacks it, and only
        afterwards in the one that is asked for.
        """
        new = self.releases[case.at]
        held = self._suggested.get(key)
        if held is not None and self._there(held, new):
            return held
        made = None
        if case.good < case.first < case.at and key not in self._suggested:
            made = make(self.releases[case.first])
            if made is None or not self._there(made, new):
                made = None
        if made is None:
            made = make(new)
        self._suggested[key] = made
        return made

    def _there(self, suggestion: Suggestion, release: str) -> bool:
        """Whether what was suggested before is still there."""
        if suggestion.evidence == "contract":
            return False  # a contract speaks for ranges of releases: ask again, it is cheap
        for spelling in (suggestion.note, suggestion.symbol):
            if ":" in spelling and " " not in spelling:
                return self.catalog.surface(release).parse(spelling) is not None
            if spelling.startswith("sglang.") and " " not in spelling:
                return self.catalog.surface(release).has_module(spelling)
        return False

    def _severity(self, case: Case, worst: Severity = Severity.ERROR) -> Severity:
        reach = case.entry.reach
        if not reach.caught:
            return worst
        if reach.way_out or case.last_ok is None:
            return Severity.NOTE
        return Severity.WARNING

    # -- guards ------------------------------------------------------------------------------------

    def _wrongly_guarded(self, case: Case, made: Finding) -> Finding:
        """A break in a branch that a version comparison chose, right where it draws the line."""
        if made.severity is Severity.NOTE or case.check.kind != "use":
            return made
        file = self.files[case.check.file]
        guard = file.uses[case.check.number].guard
        while guard:
            record = file.guards[guard]
            node: Sequence[Any] = file.nodes[record.condition] if record.kind == "if" else ("",)
            positive = record.positive
            while node[0] == "not":
                node, positive = file.nodes[node[1]], not positive
            if node[0] == "version-is":
                edge = self._edge(node, positive)
                if edge is not None and self._broken_between(case, edge):
                    sign = node[1] if positive else _OPPOSITE[node[1]]
                    return _with(
                        made,
                        rule="guard-wrong",
                        detail=f"the branch for {sign} {node[3]} is taken in "
                        f"{self.releases[edge]}, which lacks it",
                    )
            guard = record.parent
        return made

    def _edge(self, node: Sequence[str], positive: bool) -> int | None:
        """The release next to a comparison's constant, among those that take its branch."""
        _, sign, form, constant = node
        covered = [
            index
            for index, release in enumerate(self.releases)
            if compare_release(release, sign, form, constant) == positive
        ]
        if not covered:
            return None
        upwards = (sign in (">", ">=")) == positive
        return covered[0] if upwards else covered[-1]

    def _broken_between(self, case: Case, edge: int) -> bool:
        """Whether it breaks from the present release up to that edge without a gap."""
        low, high = sorted((case.at, edge))
        return all(self.timeline.entry(case.number, at).broken for at in range(low, high + 1))

    # -- clauses -----------------------------------------------------------------------------------

    def _clause(self, case: Case) -> Finding:
        """A contract's clause on the plugin's side."""
        checker = self.timeline.checker
        candidate = checker.candidates[case.check.number]
        clause = checker.behaviours.clauses[candidate.clause]
        file = self.files[candidate.file]
        if candidate.kind == "use":
            use = file.uses[candidate.number]
            place = Location(file.path, use.line, use.column)
        elif candidate.kind == "method":
            place = Location(file.path, file.functions[candidate.number].line)
        else:
            place = Location(file.path, file.classes[candidate.name].line)
        obligation = case.entry.outcome.what == "obligation"
        suggestion = None
        replacement = clause.replacement(self.releases[case.at])
        if clause.use:
            suggestion = Suggestion(clause.use, "contract", note=clause.note)
        elif replacement is not None:
            suggestion = Suggestion(replacement.use, "contract", note=replacement.note)
        rule = clause.rule or ("obligation-unmet" if obligation else "behaviour-changed")
        severity = self._severity(case, Severity(clause.severity or "error"))
        if case.entry.outcome.detail == "may-be-set":
            severity = Severity.NOTE
        return self._base(
            case,
            rule=rule,
            severity=severity,
            symbol=case.entry.outcome.symbol,
            locations=(place,),
            suggestion=suggestion,
            role="clause",
            old=clause.was,
            new=clause.now,
            clause=clause.id,
        )

    # -- uses --------------------------------------------------------------------------------------

    def _use(self, case: Case) -> Finding | None:
        file = self.files[case.check.file]
        use = file.uses[case.check.number]
        outcome = case.entry.outcome
        if case.last_ok is None and (outcome.named or use.kind is UseKind.WRITE):
            return None  # a name alone, or a write, proves nothing before the thing was there
        if outcome.named and file.foreign:
            return None  # another framework's code: its objects go by the same names
        if outcome.named:
            key = (case.number, case.good)
            if key not in self._agrees:
                self._agrees[key] = self._name_agrees(case, file, use)
            if not self._agrees[key]:
                return None
        if use.kind is UseKind.PROBE:
            return self._probe(case, file, use)
        if use.group and use.group in file.groups and self._alternative(case, file, use):
            return None
        match outcome.what:
            case "module" | "import":
                return self._import(case, use)
            case "attribute" | "hook":
                return self._attribute(case, file, use)
            case "misfit":
                return self._misfit(case, use)
            case "type":
                return self._type(case)
            case "retired":
                return self._retired(case)
            case "unpack":
                return self._unpack(case)
            case "registry":
                return self._registry(case, use)
            case "override":
                return self._stand_in(case, use)
        return None

    def _name_agrees(self, case: Case, file: File, use: Use) -> bool:
        """Whether an object that goes by a name behaves as one of the class it is taken for.

        Everything that is read off it was there in the release in which it worked; half of it,
        where the name is no plain word.
        """
        good = self._good(case).found
        node = file.nodes[use.node]
        if use.kind in (UseKind.CALL, UseKind.UNPACK) and node[0] == "call":
            node = file.nodes[node[1]]
        if not good or good[0].owner is None or node[0] != "attr":
            return True
        surface = self.catalog.surface(self.releases[case.good])
        owner = surface.find(good[0].owner.module, good[0].owner.qual)
        evaluator = self.timeline.checker.evaluator
        read = evaluator.attributes.get((case.check.file, node[1]), set())
        if owner is None or not read:
            return True
        there = surface.member_names(owner)
        for place in read - there:
            if any(place in surface.member_names(each) for each in derived(surface, owner)[:20]):
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
        return _with(made, severity=severity, role="guard")

    def _other_way(self, case: Case, file: File, use: Use) -> bool:
        """Whether the branch a failed ``hasattr`` leads to does something equivalent."""
        _, base, name = file.nodes[use.node]
        wanted = ("has", base, name)
        relevant = [
            guard
            for guard in file.guards[1:]
            if guard.kind == "if" and tuple(file.nodes[guard.condition])[:3] == wanted
        ]
        if not relevant or any(guard.positive and guard.way_out for guard in relevant):
            return True
        evaluator = self.timeline.checker.evaluator
        del evaluator
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
            symbol = module
            if name:
                gone = self._base_module(case, module)
                symbol = gone
            suggestion = self._for_symbol(case, symbol, None)
            return self._base(
                case,
                rule="module-removed",
                severity=self._severity(case),
                symbol=symbol,
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

    @staticmethod
    def _base_module(case: Case, module: str) -> str:
        return module

    def _attribute(self, case: Case, file: File, use: Use) -> Finding | None:
        outcome = case.entry.outcome
        good = self._good(case)
        found = good.found[0] if good.found else None
        written = self._spelled(case, file, use, found)
        severity = self._severity(case)
        if case.last_ok is None and outcome.detail == "object" and self._elsewhere(case):
            return None  # not there yet, and another class has it: the object may be one of that
        suggestion: Suggestion | None
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
            severity = min(severity, Severity.WARNING, key=lambda each: each.rank)
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
            role=_ROLES.get(use.kind, "use") if patch or use.kind is UseKind.PROBE else "use",
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
        if node[0] == "dotted":
            return self._dotted(node[1], found, self.releases[case.good])
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
        names = {each.qual for each in self.catalog.surface(self.releases[case.at]).mro(owner)}
        old_surface = self.catalog.surface(self.releases[case.good])
        names |= {each.qual for each in old_surface.mro(found.owner)}
        if found.owner.qual in {owner.qual} or (owner.qual in names and found.owner.qual in names):
            at_old = old_surface.find(owner.module, owner.qual)
            if at_old is None or found.owner in old_surface.mro(at_old):
                return None
        node = file.nodes[use.node]
        base = file.nodes[node[1]] if node[0] == "attr" else ("",)
        if base[0] != "call":
            return None
        number = self._call_of.get((case.check.file, node[1]))
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

    def _misfit(self, case: Case, use: Use) -> Finding | None:
        outcome = case.entry.outcome
        owner = outcome.owner
        if owner is None:
            return None
        old, new = self.releases[case.good], self.releases[case.at]
        before, after = self.catalog.surface(old), self.catalog.surface(new)
        good = self._good(case).found
        was = good[0] if good else None
        severity = self._severity(case)
        suggestion: Suggestion | None
        match outcome.detail:
            case "unknown-keyword" | "ignored-keyword":
                suggestion = self.replacements.of_keyword(owner, outcome.name, was, before, after)
                renamed = suggestion is not None and suggestion.evidence in (
                    "same-position",
                    "same-annotation",
                )
                rule = "parameter-renamed" if renamed else "parameter-removed"
                symbol = outcome.symbol
                if not symbol.endswith(f".{outcome.name}"):
                    symbol = f"{outcome.symbol}({outcome.name})"
                if owner.qual == "ServerArgs":
                    rule = "server-arg-removed"
                if outcome.detail == "ignored-keyword":
                    severity = min(severity, Severity.WARNING, key=lambda each: each.rank)
            case "missing":
                rule = "parameter-required"
                symbol = outcome.symbol
                if not symbol.endswith(f".{outcome.name}"):
                    symbol = f"{outcome.symbol}({outcome.name})"
                suggestion = self.replacements.of_call(owner, outcome.name, new, after)
            case "keyword-only":
                rule = "keyword-only"
                symbol = f"{outcome.symbol}({outcome.name})"
                suggestion = self.replacements.of_call(owner, outcome.name, new, after)
            case _:
                rule = "parameter-removed"
                symbol = outcome.symbol
                gone = self._dropped(was, owner, before, after)
                if gone:
                    symbol = f"{outcome.symbol}({gone})"
                suggestion = self.replacements.of_call(owner, "", new, after)
        return self._base(
            case,
            rule=rule,
            severity=severity,
            symbol=symbol,
            locations=self._location(case),
            suggestion=suggestion,
            role="call",
            old=self._signature(was, before),
            new=self._signature(owner, after),
        )

    def _dropped(self, was: Symbol | None, now: Symbol, before: object, after: object) -> str:
        """The one parameter that went, where it was exactly one."""
        old = self.replacements.parameters(was, before) if was is not None else None  # type: ignore[arg-type]
        new = self.replacements.parameters(now, after)  # type: ignore[arg-type]
        if old is None or new is None:
            return ""
        names = {each.name for each in new}
        gone = [each.name for each in old if each.name not in names]
        return gone[0] if len(gone) == 1 else ""

    def _signature(self, symbol: Symbol | None, surface: object) -> str:
        if symbol is None:
            return ""
        parameters = self.replacements.parameters(symbol, surface)  # type: ignore[arg-type]
        if parameters is None:
            return ""
        short = symbol.qual.removesuffix(".__init__").rsplit(".", 1)[-1]
        text = signature_text(short, parameters)
        return text if len(text) <= 300 else text[:297] + "..."

    def _type(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.owner is None:
            return None
        new = self.releases[case.at]
        after = self.catalog.surface(new)
        said = self.replacements._contract(outcome.symbol, new)
        types = after.annotation_type(outcome.owner.module, outcome.new)
        short = outcome.owner.qual.removesuffix(".__init__").rsplit(".", 1)[-1]
        suggestion = said
        if suggestion is None and types:
            suggestion = Suggestion(
                f"{short}({types[0].qual})", "signature", note=f"{outcome.name}: {types[0].name}"
            )
        elif suggestion is None:
            suggestion = Suggestion(f"{short}({outcome.name})", "signature", note=outcome.new)
        return self._base(
            case,
            rule="dtype-changed",
            severity=self._severity(case),
            symbol=f"{outcome.symbol}({outcome.name})",
            locations=self._location(case),
            suggestion=suggestion,
            role="call",
            new=outcome.new,
            detail=f"{outcome.name} is {outcome.new} now",
        )

    def _retired(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.owner is None:
            return None
        new = self.releases[case.at]
        return self._base(
            case,
            rule="retired",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=self.replacements.of_message(outcome.owner, new, self.catalog.surface(new)),
            role="call",
        )

    def _unpack(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.owner is None:
            return None
        after = self.catalog.surface(self.releases[case.at])
        node = outcome.owner.node
        was = self._good(case).found
        old = was[0].node.returns if was and isinstance(was[0].node, Function) else ""
        return self._base(
            case,
            rule="return-changed",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=self.replacements._contract(outcome.symbol, self.releases[case.at])
            or self.replacements.of_return(outcome.owner, 0, after),
            role="call",
            old=old or outcome.name.lstrip("-") + " values",
            new=(node.returns if isinstance(node, Function) else "") or outcome.new + " values",
        )

    def _registry(self, case: Case, use: Use) -> Finding:
        outcome = case.entry.outcome
        said = self.replacements._contract(outcome.symbol, self.releases[case.at])
        return self._base(
            case,
            rule="registry-removed",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=said,
        )

    def _stand_in(self, case: Case, use: Use) -> Finding | None:
        """A hook or a patch whose function no longer fits what its target is called with."""
        made = self._signature_finding(case)
        if made is None:
            return None
        return _with(made, role="hook" if use.kind is UseKind.HOOK else "patch")

    # -- overrides ---------------------------------------------------------------------------------

    def _signature_finding(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.owner is None or case.last_ok is None:
            return None
        new = self.releases[case.at]
        after = self.catalog.surface(new)
        severity = self._severity(case)
        if outcome.detail == "rare":  # on a special path only, which this class may never see
            severity = Severity.NOTE
        return self._base(
            case,
            rule="override-signature",
            severity=severity,
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=self.replacements.of_call(outcome.owner, outcome.name, new, after),
            role="override",
            new=self._signature(outcome.owner, after),
            detail=f"SGLang passes {outcome.name}" if outcome.name else "",
        )

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
        contracted = self.replacements._contract(found.name, new)
        severity = self._severity(case)
        if (not called and found.kind == "method") or not (replaced or contracted):
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
            suggestion=self.replacements.of_member(found, old, new)
            or (Suggestion(replaced[0], "same-position") if replaced else None),
            role="override",
        )

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
        entries = self.timeline.history(number)
        made: list[Finding] = []
        for symbol in entry.outcome.found:
            name = symbol.qual.rsplit(".", 1)[-1]

            def lacks(at: int, name: str = name) -> bool:
                each = entries[at]
                return each.broken and any(
                    s.qual.rsplit(".", 1)[-1] == name for s in each.outcome.found
                )

            def knows(at: int) -> bool:
                return entries[at].outcome.status is not Status.UNKNOWN

            good = next(
                (
                    at
                    for at in (*range(index - 1, -1, -1), *range(index + 1, len(entries)))
                    if knows(at) and not lacks(at)
                ),
                None,
            )
            first = index
            while first > 0 and lacks(first - 1):
                first -= 1
            last = first - 1 if first > 0 else None
            case = Case(
                number, check, entry, index, first, last, good if good is not None else index
            )
            file = self.files[check.file]
            surface = self.catalog.surface(self.releases[index])
            suggestion = self.replacements._contract(symbol.name, self.releases[index])
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
        kin = derived(surface, base)
        name = symbol.qual.rsplit(".", 1)[-1]
        return len(kin) >= 3 and all(surface.member(each, name) != symbol for each in kin)


def derived(surface: Surface, base: Symbol) -> list[Symbol]:
    """Classes of a release that derive from a base, as far as its methods lead to them."""
    node = base.node
    if not isinstance(node, Class):
        return []
    found: dict[Symbol, None] = {}
    for name in node.methods:
        if name.startswith("__"):
            continue
        for place in surface.places(name):
            module, _, qual = place.partition(":")
            if not qual or module.startswith("sglang.test"):
                continue
            other = surface.find(module, qual)
            if (other is not None and other.kind == "class" and other != base) and (
                base in surface.mro(other)
            ):
                found[other] = None
    return list(found)


def _with(finding: Finding, **changes: object) -> Finding:
    import msgspec

    return msgspec.structs.replace(finding, **changes)


def _facts(found: Symbol | None) -> str:
    """What a lost symbol was, in a few words."""
    if found is None:
        return ""
    if isinstance(found.node, Attribute):
        return found.node.annotation[:120]
    return ""


def merge(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """One finding for each rule and symbol, with all its places; the worst severity wins."""
    held: dict[tuple[str, str, str], Finding] = {}
    for each in findings:
        kind = "note" if each.severity is Severity.NOTE else "problem"
        key = (each.rule, each.symbol, kind)
        other = held.get(key)
        if other is None:
            held[key] = each
            continue
        places = tuple(dict.fromkeys((*other.locations, *each.locations)))
        worst, less = (each, other) if each.severity.rank > other.severity.rank else (other, each)
        earliest = min(
            (worst, less), key=lambda one: (one.by_name, one.severity.rank != worst.severity.rank)
        )
        held[key] = _with(
            worst,
            locations=tuple(sorted(places)),
            by_name=worst.by_name and less.by_name,
            last_ok=earliest.last_ok,
            first_broken=earliest.first_broken,
            suggestion=worst.suggestion or less.suggestion,
        )
    ranked = sorted(
        held.values(),
        key=lambda one: (-one.severity.rank, one.locations[:1], one.rule, one.symbol),
    )
    return tuple(_dedupe(ranked))


def _dedupe(ranked: Sequence[Finding]) -> list[Finding]:
    """The same symbol under two rules at the same places is said once, the weightier first."""
    kept: list[Finding] = []
    said: dict[str, set[tuple[str, int]]] = {}
    clauses: set[tuple[str, str, tuple[Location, ...]]] = set()
    for each in ranked:
        if each.clause:  # one change, written down for each class that has the member
            key = (each.rule, each.symbol.rsplit(".", 1)[-1], each.locations)
            if key in clauses:
                continue
            clauses.add(key)
        places = {(one.file, one.line) for one in each.locations}
        covered = said.setdefault(each.symbol, set())
        if places and places <= covered:
            continue
        covered |= places
        kept.append(each)
    return kept


def role_of(use: Use) -> str:
    """How a use relies on something, as findings and ``uses`` say it."""
    return _ROLES.get(use.kind, "use")


__all__ = ["Case", "Findings", "merge", "role_of"]
