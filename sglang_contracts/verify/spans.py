"""Where a state that holds in a release began, and which release was last, or is next, in another.

States are one answer a release, ascending, as yes or no.
"""

from __future__ import annotations

from collections.abc import Sequence


def start(states: Sequence[bool], at: int) -> int:
    """The first of the releases that lie without a gap before one and are as it is."""
    first = at
    while first > 0 and states[first - 1]:
        first -= 1
    return first


def last_before(states: Sequence[bool], at: int) -> int | None:
    """The last release before one of which it is true; None where there is none."""
    return next((index for index in range(at - 1, -1, -1) if states[index]), None)


def nearest(states: Sequence[bool], at: int) -> int | None:
    """The nearest other release of which it is true: before, else after."""
    before = last_before(states, at)
    if before is not None:
        return before
    return next((index for index in range(at + 1, len(states)) if states[index]), None)
