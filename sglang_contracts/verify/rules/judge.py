"""Timelines → findings: the rule, the symbol, since when, how bad, what to use instead."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.verify.findings.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, with_changes
from sglang_contracts.verify.rules.version_guard_wrong import Branches


class Findings(Branches):
    """Findings of one plugin, release by release; see :class:`Judging` for the arguments."""

    def at(self, index: int) -> list[Finding]:
        """All findings in one release (by index), not yet merged."""
        found: list[Finding] = self.of_branches(index)
        for number in self.timeline.ever_broken:
            check = self.timeline.checks[number]
            if not self.timeline.breaks(number, index):
                continue
            entry = self.timeline.entry(number, index)
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

    def _wrongly_guarded(self, case: Case, made: Finding) -> Finding:
        """A break in a branch that a version comparison chose, right where it draws the line."""
        if made.severity is Severity.NOTE or case.check.kind != "use":
            return made
        index = case.check.file
        file = self.files[index]
        guard = file.uses[case.check.number].guard
        while guard:
            record = file.guards[guard]
            if record.kind == "if":
                covered = self.covered(index, record.condition, record.positive)
                wrong = covered and self._drawn_wrong(case, covered)
                if wrong:
                    return with_changes(made, rule="guard-wrong", detail=wrong)
            guard = record.parent
        return made

    def _drawn_wrong(self, case: Case, covered: Sequence[bool]) -> str:
        """What is wrong with a branch's bounds; empty where they are not to blame for a break.

        They are where the use breaks from the present release up to the bound without a gap.
        """
        if not covered[case.at]:
            return ""
        low = high = case.at
        while low > 0 and covered[low - 1]:
            low -= 1
        while high < len(covered) - 1 and covered[high + 1]:
            high += 1
        broken = [self.timeline.entry(case.number, at).broken for at in range(low, high + 1)]
        before, after = broken[: case.at - low + 1], broken[case.at - low :]
        there = [self.timeline.entry(case.number, at).fine for at in range(len(covered))]
        named = self._branch(covered)
        if all(broken) and not any(t for t, c in zip(there, covered, strict=True) if c):
            if any(there):
                return f"{named} lacks it, the other has it: the branches are the wrong way round"
            return ""
        if low > 0 and all(before) and not all(after):
            upto = next(at for at in range(case.at, high + 1) if not broken[at - low])
            return f"{named} starts too early: it is there from {self.releases[upto]} on"
        if high < len(covered) - 1 and all(after) and not all(before):
            last = next(at for at in range(case.at, low - 1, -1) if not broken[at - low])
            return f"{named} goes on too long: it is there up to {self.releases[last]}"
        if (low > 0 or high < len(covered) - 1) and all(broken):
            return f"{named} lacks it"
        return ""

    def _branch(self, covered: Sequence[bool]) -> str:
        """A branch by the releases that take it."""
        taken = [at for at, each in enumerate(covered) if each]
        first, last = self.releases[taken[0]], self.releases[taken[-1]]
        if len(taken) == 1:
            return f"the branch for {first}"
        if taken[-1] == len(covered) - 1:
            return f"the branch from {first} on"
        if taken[0] == 0:
            return f"the branch up to {last}"
        return f"the branch for {first} to {last}"

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
        if case.entry.outcome.detail in ("may-be-set", "handed-on"):
            severity = Severity.NOTE
        if case.entry.outcome.symbol.startswith("env:") or case.entry.outcome.detail in (
            "unproven",
            "asked-for",
        ):  # nothing fails, it has no effect; or whether it fails is decided elsewhere
            severity = min(severity, Severity.WARNING, key=lambda each: each.rank)
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
            case "attribute" if self._good(case).what == "kind":
                return self._kind(case)
            case "attribute" | "hook":
                return self._attribute(case, file, use)
            case "misfit":
                return self._misfit(case, use)
            case "type":
                return self._type(case)
            case "kind":
                return self._kind(case)
            case "place":
                return self._place(case)
            case "need":
                return self._need(case)
            case "text":
                return self._text(case)
            case "retired":
                return self._retired(case)
            case "shift":
                return self._shift(case)
            case "awaited":
                return self._awaited(case)
            case "result":
                return self._result(case)
            case "unpack":
                return self._unpack(case)
            case "registry" if self._good(case).what == "kind":
                return None  # a mapping as any other: its annotation never told its keys
            case "registry":
                return self._registry(case, use)
            case "taken":
                return self._taken(case)
            case "override":
                return self._stand_in(case, use)
        return None
