"""Whether the code of a use runs in a release, and what catches its failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sglang_contracts.plugin.ir.records import Attempt, File, Use, UseKind
from sglang_contracts.verify.answers.memory import Key
from sglang_contracts.verify.answers.outcome import Outcome, Status
from sglang_contracts.verify.silences.reasons import FALLBACK_UNUSED, OTHER_BRANCH, TYPING_ONLY
from sglang_contracts.verify.values.evaluator import Evaluator


class Reach(NamedTuple):
    """Whether the code of a use runs in a release, and what catches its failure."""

    runs: bool
    caught: bool = False
    way_out: bool = True
    silence: str = ""
    """The reason for which it does not run; empty: it does."""


class Guards:
    """Guards of a plugin, judged in the present release of an evaluator.

    Args:
        evaluator: Works out values in the present release.
        outcome: How one use of a file fares in it.
        catches: Way of failing → exceptions whose ``except`` clauses catch it.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        outcome: Callable[[int, File, Use], Outcome],
        catches: Mapping[str, frozenset[str]],
    ) -> None:
        self.evaluator = evaluator
        self.lens = evaluator.lens
        self.files = evaluator.files
        self._outcome = outcome
        self._catches = catches
        self._went_active: dict[Key, int] = {}
        """Attempts being judged, with the place of the value they are judged for."""
        evaluator.constants.status_of = self.went

    def reach(self, index: int, guard: int, what: str) -> Reach:
        """Whether code under a guard runs, and whether a failure of a kind is caught."""
        file = self.files[index]
        caught, way_out = False, True
        while guard:
            record = file.guards[guard]
            if TYPING_ONLY.holds(record.kind == "typing"):
                return Reach(False, silence=TYPING_ONLY.id)
            if record.kind == "handler":
                attempt = file.attempts[record.condition]
                if FALLBACK_UNUSED.holds(self.went(index, record.condition, attempt)):
                    return Reach(False, silence=FALLBACK_UNUSED.id)
            elif record.kind == "try":
                attempt = file.attempts[record.condition]
                if not caught and not attempt.raises and self.catches(attempt, what):
                    caught, way_out = True, attempt.way_out
            elif record.kind == "if":
                truth = self.evaluator.constants.condition(index, record.condition)
                if OTHER_BRANCH.holds(truth is not None and truth != record.positive):
                    return Reach(False, silence=OTHER_BRANCH.id)
            guard = record.parent
        return Reach(True, caught, way_out)

    def catches(self, attempt: Attempt, what: str) -> bool:
        """Whether a ``try`` catches that kind of failure."""
        return not self._catches[what].isdisjoint(attempt.catches)

    def went(self, index: int, number: int, attempt: Attempt) -> bool:
        """Whether a ``try`` goes through in the present release."""
        key = ("went", index, number)
        memory, underway = self.lens.memory, self.evaluator.underway
        held: bool | None = memory.held(key)
        if held is not None:
            return held
        if key in self._went_active:
            underway.cut_at(self._went_active[key])
            return True
        self._went_active[key] = len(underway) - 1
        try:
            result, names = memory.track(lambda: self._went(index, number, attempt))
        finally:
            del self._went_active[key]
        if self._went_active:
            memory.stand_on(names)  # what is judged further up may have cut it short
        else:
            memory.keep(key, result, names)
            memory.touch(key)
        return result

    def _went(self, index: int, number: int, attempt: Attempt) -> bool:
        file = self.files[index]
        for each in self.evaluator.index.attempts.get((index, number), ()):
            use = file.uses[each]
            if use.kind is UseKind.PROBE:
                continue
            outcome = self._outcome(index, file, use)
            if outcome.status is not Status.BROKEN or not self.catches(attempt, outcome.what):
                continue
            if self._inner(index, use.guard, number, outcome.what):
                return False
        return True

    def _inner(self, index: int, guard: int, number: int, what: str) -> bool:
        """Whether a failure under a guard gets out to that ``try``."""
        file = self.files[index]
        while guard:
            record = file.guards[guard]
            if record.kind == "try":
                if record.condition == number:
                    return True
                inner = file.attempts[record.condition]
                if self.catches(inner, what) and not inner.raises:
                    return False
            elif record.kind == "handler":
                if self.went(index, record.condition, file.attempts[record.condition]):
                    return False
            elif record.kind == "if":
                truth = self.evaluator.constants.condition(index, record.condition)
                if truth is not None and truth != record.positive:
                    return False
            elif record.kind == "typing":
                return False
            guard = record.parent
        return False
