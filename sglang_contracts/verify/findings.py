"""Timelines → findings: the rule, the symbol, since when, how bad, what to use instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sglang_contracts.plugin.model import UseKind
from sglang_contracts.verify.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.inherited import Inherited
from sglang_contracts.verify.judging import Case, with_changes
from sglang_contracts.verify.values import compare_release

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Findings(Inherited):
    """Findings of one plugin, release by release; see :class:`Judging` for the arguments."""

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
                    return with_changes(
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
