"""How one check came out: a value, which certificates and reports are made of."""

from __future__ import annotations

import msgspec

OUTCOMES = ("pass", "skip", "expected", "fail", "error")
"""From good to bad. ``expected``: it fails as was said. ``error``: the suite could not tell."""


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one check came out."""

    id: str
    level: int
    title: str
    outcome: str
    reason: str = ""
    """Of a skip or an expected failure: a sentence. Of the others: empty."""
    message: str = ""
    """Of a failure or an error."""
    cause: str = ""
    """Why, in a line, where many checks may fail for the same reason; empty: for its own."""
    crash: bool = False
    """The failure is something that the backend raised, not this check's own assertion."""
    reproduction: str = ""
    """Python that fails alone for the same reason."""
    seconds: float = 0.0
    cells: tuple[str, ...] = ()
    """What it exercised."""
    omitted: tuple[str, ...] = ()
    """Sentences on the parts of it that did not apply."""
    clauses: tuple[str, ...] = ()
