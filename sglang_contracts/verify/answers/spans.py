"""Where a state that holds in a release began, and which release was last, or is next, in another.

States are a byte a release, ascending: 1 for yes, 0 for no. Bytes are searched at once, and what is
asked of a state is asked for every release.
"""

from __future__ import annotations


def start(states: bytes, at: int) -> int:
    """The first of the releases that lie without a gap before one and are as it is."""
    return states.rfind(0, 0, at) + 1


def last_before(states: bytes, at: int) -> int | None:
    """The last release before one of which it is true; None where there is none."""
    found = states.rfind(1, 0, at)
    return found if found >= 0 else None


def nearest(states: bytes, at: int) -> int | None:
    """The nearest other release of which it is true: before, else after."""
    found = states.rfind(1, 0, at)
    if found < 0:
        found = states.find(1, at + 1)
    return found if found >= 0 else None
