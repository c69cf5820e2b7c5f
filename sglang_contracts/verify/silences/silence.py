"""A reason for silence as a value, and how grave something is after such reasons."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

from sglang_contracts.verify.findings.finding import Severity


class Rests(enum.Enum):
    """What a reason looks at."""

    OBJECT = "object"
    """The object: the class that owns what is read, written, called or overridden."""
    NAME = "name"
    """A name alone: used only where nothing tells the object."""
    PLACE = "place"
    """Where it stands in the plugin: its branch, its function, its file."""


class Effect(enum.Enum):
    """What a reason does to a finding."""

    HIDES = "not reported"
    SOFTENS = "reported softer"


@dataclass(frozen=True)
class Silence:
    """One reason. All of them stand in :mod:`.reasons`; each has a page and two fixtures."""

    id: str
    """Its name in reports; never changed, never used again."""
    says: str
    """Why nothing, or less, is said: a clause that ends a sentence."""
    rests: Rests
    effect: Effect = Effect.HIDES

    def holds(self, answer: bool) -> bool:
        """Whether it holds where its predicate gave an answer.

        All predicates of reasons go through here, so that a test can take one reason away, or have
        it hold always, and see that its fixtures tell.
        """
        return answer


class Weight(NamedTuple):
    """How grave a finding is, and the reason that made it less grave than it would be."""

    severity: Severity
    softened: str = ""
    """Id of the reason; empty: none."""

    def at_most(self, most: Severity, reason: Silence) -> Weight:
        """No graver than that, for a reason."""
        return self if self.severity.rank <= most.rank else Weight(most, reason.id)
