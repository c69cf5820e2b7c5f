"""Every check of a plugin over every recorded release.

What a check comes to is kept as long as nothing it stands on changes, so that a further release
costs only what changed in it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sglang_contracts.verify.answers.memory import Dependents, Key
from sglang_contracts.verify.answers.outcome import OK, Outcome, Status
from sglang_contracts.verify.answers.spans import last_before, nearest, start
from sglang_contracts.verify.rules.check import Check, Checker
from sglang_contracts.verify.rules.guarded import Reach

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
    def silence(self) -> str:
        """The reason for which nothing is said though it would break; empty: there is none."""
        outcome = self.outcome
        return self.reach.silence if outcome.status is Status.BROKEN else outcome.silence

    @property
    def fine(self) -> bool:
        """Whether it is certainly there."""
        return self.outcome.status is Status.OK


_FINE = Entry(OK, _RUNS)


class Timeline:
    """Entries of checks over releases.

    Every check is worked out in the releases that are wanted; its history only where it breaks in
    one of them.

    Args:
        checker: Works out one release.
        releases: All that are recorded, ascending.
        wanted: Indices of those that are reported on; None: all.
        history: Whether to look at the history of what breaks.
    """

    def __init__(
        self,
        checker: Checker,
        releases: Sequence[str],
        wanted: Sequence[int] | None = None,
        history: bool = True,
    ) -> None:
        self.checker = checker
        self.releases = tuple(releases)
        self.checks: list[Check] = checker.checks()
        self.wanted = tuple(sorted(set(range(len(releases)) if wanted is None else wanted)))
        self._force: dict[int, list[bool]] = {}
        self._courses: dict[int, tuple[bytes, bytes]] = {}
        self._entries: list[list[Entry | None]] = [[None] * len(releases) for _ in self.checks]
        self.ever_unresolved: set[int] = set()
        """Checks of which nothing can be said in a release that is reported on."""
        self.ever_silenced: set[int] = set()
        """Checks of which nothing is said in such a release though they would break."""
        self.ever_broken = self._run(range(len(self.checks)), self.wanted)
        """Checks that break in one of the releases that are reported on."""
        if not history:
            return
        rest = [at for at in range(len(releases)) if at not in set(self.wanted)]
        self._run(self.ever_broken, rest)

    def _run(self, numbers: Sequence[int], indices: Sequence[int]) -> tuple[int, ...]:
        """Work checks out in releases; those that break in one of these."""
        evaluator = self.checker.state.evaluator
        dependents: Dependents[int] = Dependents()
        current: dict[int, Entry] = {}
        since: dict[int, int] = {}  # where in ``indices`` the present entry began
        of_clauses: set[int] = set()
        broken: set[int] = set()
        for position, index in enumerate(indices):
            changed = evaluator.move(self.releases[index])
            todo = dependents.take(changed) if current else set(numbers)
            for number in sorted(todo):
                entry, names = self._tracked(number)
                if number in since:
                    self._fill(number, indices[since[number] : position], current[number])
                current[number], since[number] = entry, position
                if self.checks[number].kind == "clause":
                    of_clauses.add(number)
                if entry.broken:
                    broken.add(number)
                elif entry.outcome.what == "unresolved" and entry.reach.runs:
                    self.ever_unresolved.add(number)
                elif entry.silence:
                    self.ever_silenced.add(number)
                dependents.note(number, names)
        for number, entry in current.items():
            self._fill(number, indices[since[number] :], entry)
        for number in of_clauses:
            row = self._entries[number]
            for index in indices:
                held = row[index]
                if held is not None:
                    row[index] = self._dated(number, index, held)
        return tuple(n for n in sorted(broken) if n not in of_clauses or self._breaks(n, indices))

    def _fill(self, number: int, indices: Sequence[int], entry: Entry) -> None:
        row, first, end = self._entries[number], indices[0], indices[-1] + 1
        if end - first == len(indices):
            row[first:end] = [entry] * len(indices)  # a million entries are written so
        else:
            for index in indices:
                row[index] = entry

    def _breaks(self, number: int, indices: Sequence[int]) -> bool:
        row = self._entries[number]
        return any(entry is not None and entry.broken for entry in (row[i] for i in indices))

    def _tracked(self, number: int) -> tuple[Entry, Collection[Key]]:
        return self.checker.state.lens.track(lambda: self._entry(number))

    def _entry(self, number: int) -> Entry:
        outcome, reach = self.checker.outcome_of(self.checks[number])
        if outcome.status is not Status.BROKEN and outcome.what != "unresolved":
            return Entry(outcome, _RUNS)
        return Entry(outcome, reach())

    def entry(self, number: int, index: int) -> Entry:
        """A check in a release; worked out now if nobody needed it before."""
        held = self._entries[number][index]
        if held is None:
            self.checker.state.evaluator.move(self.releases[index])
            held = self._dated(number, index, self._entry(number))
            self._entries[number][index] = held
        return held

    def _dated(self, number: int, index: int, entry: Entry) -> Entry:
        """A clause says nothing in a release in which it is not in force."""
        check = self.checks[number]
        told = entry.outcome.status is Status.BROKEN or entry.outcome.silence
        if check.kind != "clause" or not told:
            return entry
        clause = self.checker.candidates[check.number].clause
        force = self._force.get(clause)
        if force is None:
            force = self.checker.behaviours.in_force(clause, self.releases)
            self._force[clause] = force
        return entry if force[index] else _FINE

    def history(self, number: int) -> list[Entry]:
        """A check over all releases."""
        return [self.entry(number, index) for index in range(len(self.releases))]

    def _course(self, number: int) -> tuple[bytes, bytes]:
        """Where a check breaks and where it is fine: a byte a release, 1 for yes."""
        course = self._courses.get(number)
        if course is None:
            entries = self.history(number)
            course = self._courses[number] = (
                bytes(entry.broken for entry in entries),
                bytes(entry.fine for entry in entries),
            )
        return course

    def breaks(self, number: int, at: int) -> bool:
        """Whether a check breaks in a release."""
        return bool(self._course(number)[0][at])

    def span(self, number: int, at: int) -> tuple[int, int | None]:
        """The broken interval around a release: its first index, and the release before it.

        None where no earlier release had it: it is not gone, it is not there yet.
        """
        broken, fine = self._course(number)
        first = start(broken, at)
        return first, (None if last_before(fine, first) is None else first - 1)

    def good(self, number: int, at: int) -> int | None:
        """The nearest release in which a check is fine: before, else after."""
        return nearest(self._course(number)[1], at)
