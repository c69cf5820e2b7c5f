"""How much a run tries: ``quick`` while developing, ``full`` for a delivery."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """How much is tried.

    Attributes:
        name: ``quick`` or ``full``.
        examples: Hypothesis examples of a check.
        all_cells: Each dtype with each page size, and all shapes; or each value at least once.
        ops: Operations in a state machine's run.
    """

    name: str
    examples: int
    all_cells: bool
    ops: int


PROFILES = {
    "quick": Profile("quick", 8, False, 24),
    "full": Profile("full", 60, True, 60),
}
