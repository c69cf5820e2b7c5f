"""A place of a plugin that can break, and what works out how it fares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from sglang_contracts.verify.answers.outcome import Outcome
from sglang_contracts.verify.rules.clause_behaviour import Behaviours
from sglang_contracts.verify.rules.clause_candidates import Candidate
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.guarded import Reach


class Check(NamedTuple):
    """One thing to look at in each release."""

    kind: str
    """``use``, ``override``, ``class``, ``clause``, ``setter``."""
    file: int
    number: int
    name: str = ""
    """OVERRIDE: qualified name of the method; CLASS: of the class."""


class Checker(Protocol):
    """Works out the outcome of each check in the present release."""

    @property
    def state(self) -> Detection:
        """What detections share."""

    @property
    def behaviours(self) -> Behaviours:
        """Judges what contracts say of behaviour."""

    @property
    def candidates(self) -> Sequence[Candidate]:
        """Places of the plugin that a clause may be about."""

    def checks(self) -> list[Check]:
        """Everything there is to look at."""

    def outcome_of(self, check: Check) -> tuple[Outcome, Callable[[], Reach]]:
        """An outcome, and how to find out whether its code runs."""
