"""Branches of version comparisons: releases that none takes, and branches that none leads to."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.records import Chain, File
from sglang_contracts.verify.findings.finding import Finding, Location, Severity
from sglang_contracts.verify.rules.history import Timeline
from sglang_contracts.verify.rules.inherited import Inherited
from sglang_contracts.verify.suggest.replacements import Replacements

VERSION = "sglang:__version__"
"""What such a finding is about."""

_LONG_AGO, _SOME_DAY = "0.0.1", "999"
"""Releases before and beyond all that are recorded."""


class Branches(Inherited):
    """Words what is wrong with the branches themselves, whatever stands in them."""

    def __init__(self, timeline: Timeline, replacements: Replacements) -> None:
        super().__init__(timeline, replacements)
        self._coverage: dict[tuple[int, int], tuple[bool | None, ...] | None] = {}
        self._chains = [
            (number, file, chain, coverage)
            for number, file in enumerate(self.files)
            for chain in file.chains
            if (coverage := self._of_chain(number, chain))
        ]

    def covered(self, index: int, condition: int, positive: bool = True) -> tuple[bool, ...]:
        """Which releases a version comparison leads to a branch; empty: it is none."""
        key = (index, condition)
        if key not in self._coverage:
            self._coverage[key] = self.timeline.checker.evaluator.version_ranges.covered(
                index, condition, self.releases
            )
        answers = self._coverage[key]
        return () if answers is None else tuple(each is positive for each in answers)

    def _of_chain(self, index: int, chain: Chain) -> list[tuple[bool, ...]]:
        """Which releases each branch of a chain is for; empty where something else decides."""
        found = [self.covered(index, each) for each in chain.conditions]
        if not all(found):
            return []
        around = self._around(index, chain.guard)
        if not any(around):
            return []
        return [tuple(a and b for a, b in zip(each, around, strict=True)) for each in found]

    def _around(self, index: int, guard: int) -> list[bool]:
        """In which releases what stands under a guard may run, as far as versions tell."""
        runs = [True] * len(self.releases)
        file = self.files[index]
        while guard:
            record = file.guards[guard]
            if record.kind == "if":
                covered = self.covered(index, record.condition, record.positive)
                if covered:
                    runs = [a and b for a, b in zip(runs, covered, strict=True)]
            elif record.kind in ("handler", "typing"):
                return [False] * len(self.releases)
            guard = record.parent
        return runs

    def of_branches(self, at: int) -> list[Finding]:
        """What is wrong with branches in one release (by index)."""
        found = []
        for index, file, chain, coverage in self._chains:
            gap = self._gap(index, file, chain, coverage, self._around(index, chain.guard), at)
            if gap is not None:
                found.append(gap)
            found += self._never(index, file, chain, coverage, at)
        return found

    def _total(self, index: int, chain: Chain) -> bool:
        """Whether a chain is meant for all releases: it reaches back and ahead without end."""
        evaluator = self.timeline.checker.evaluator
        return all(
            any(evaluator.version_ranges.supposing(end, index, each) for each in chain.conditions)
            for end in (_LONG_AGO, _SOME_DAY)
        )

    def _gap(
        self,
        index: int,
        file: File,
        chain: Chain,
        coverage: Sequence[Sequence[bool]],
        around: Sequence[bool],
        at: int,
    ) -> Finding | None:
        """A release between those that have a branch, and has none itself."""
        if chain.closed or len(coverage) < 2 or not around[at]:
            return None
        taken = [any(each[one] for each in coverage) for one in range(len(self.releases))]
        if taken[at] or not any(taken[:at]) or not any(taken[at:]):
            return None
        first = at
        while not taken[first - 1]:
            first -= 1
        names = " or ".join(chain.binds[:3])
        fails = bool(names) and not chain.bound
        if not fails and (names or not self._total(index, chain)):
            return None  # cases apart from a rule that stands before them
        return Finding(
            "guard-wrong",
            Severity.ERROR if fails else Severity.WARNING,
            VERSION,
            (Location(file.path, chain.line, chain.column),),
            last_ok=self.releases[first - 1],
            first_broken=self.releases[first],
            role="guard",
            detail=f"no branch is for {self.releases[at]}"
            + (f", so that {names} is not bound" if fails else ""),
        )

    def _never(
        self,
        index: int,
        file: File,
        chain: Chain,
        coverage: Sequence[Sequence[bool]],
        at: int,
    ) -> list[Finding]:
        """Branches that no release takes."""
        found = []
        earlier = [False] * len(self.releases)
        for number, own in enumerate(coverage):
            left = [a and not b for a, b in zip(own, earlier, strict=True)]
            earlier = [a or b for a, b in zip(own, earlier, strict=True)]
            if any(left):
                continue
            severity, detail = Severity.WARNING, "no release takes the branch"
            if any(own):
                if not own[at]:
                    continue
                detail = f"{detail}: those before it take all of its releases"
            else:
                evaluator = self.timeline.checker.evaluator
                condition = chain.conditions[number]
                if evaluator.version_ranges.supposing(_SOME_DAY, index, condition):
                    continue  # for releases to come
                if evaluator.version_ranges.supposing(_LONG_AGO, index, condition):
                    severity, detail = Severity.NOTE, "the branch is for no recorded release"
            line = chain.lines[number]
            found.append(
                Finding(
                    "guard-wrong",
                    severity,
                    VERSION,
                    (Location(file.path, line),),
                    role="guard",
                    detail=detail,
                )
            )
        return found
