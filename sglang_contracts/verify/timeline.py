"""Every check of a plugin over every recorded release.

What a check comes to is kept as long as no module it stands on changes, so that a further release
costs only what changed in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sglang_contracts.verify.checks import Check, Checker, Reach, outcome_of
from sglang_contracts.verify.outcome import Outcome, Status

_RUNS = Reach(True)


class Entry(NamedTuple):
    """A check in one release."""

    outcome: Outcome
    reach: Reach

    @property
    def broken(self) -> bool:
        """Whether it breaks there, guarded or not."""
        return self.outcome.status is Status.BROKEN and self.reach.runs

    @property
    def fine(self) -> bool:
        """Whether it is certainly there."""
        return self.outcome.status is Status.OK


class Timeline:
    """Entries of all checks over all releases.

    Args:
        checker: Works out one release.
        releases: All that are recorded, ascending.
    """

    def __init__(self, checker: Checker, releases: Sequence[str]) -> None:
        self.checker = checker
        self.releases = tuple(releases)
        self.checks: list[Check] = checker.checks()
        self.entries: list[list[Entry]] = [[] for _ in self.checks]
        self._run()

    def _run(self) -> None:
        evaluator = self.checker.evaluator
        lens = evaluator.lens
        stands_on: dict[str, set[int]] = {}
        current: list[Entry | None] = [None] * len(self.checks)
        for release in self.releases:
            changed = evaluator.move(release)
            self.checker.moved()
            if current[0:1] == [None]:
                todo = set(range(len(self.checks)))
            else:
                todo = set(stands_on.pop("release", ()))
                for name in changed:
                    todo |= stands_on.pop(name, set())
            for number in sorted(todo):
                entry, names = lens.track(lambda number=number: self._entry(number))  # type: ignore[misc]
                current[number] = entry
                for name in names:
                    stands_on.setdefault(name, set()).add(number)
            for number, entry in enumerate(current):
                assert entry is not None
                self.entries[number].append(entry)

    def _entry(self, number: int) -> Entry:
        outcome, reach = outcome_of(self.checker, self.checks[number])
        if outcome.status is not Status.BROKEN:
            return Entry(outcome, _RUNS)
        return Entry(outcome, reach())

    def span(self, number: int, at: int) -> tuple[int, int | None]:
        """The broken interval around a release: its first index, and the last good one before."""
        entries = self.entries[number]
        first = at
        while first > 0 and entries[first - 1].broken:
            first -= 1
        return first, (first - 1 if first > 0 else None)

    def good(self, number: int, at: int) -> int | None:
        """The nearest release in which a check is fine: before, else after."""
        entries = self.entries[number]
        for index in range(at - 1, -1, -1):
            if entries[index].fine:
                return index
        for index in range(at + 1, len(entries)):
            if entries[index].fine:
                return index
        return None
