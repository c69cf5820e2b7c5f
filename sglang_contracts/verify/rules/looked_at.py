"""How much of what a plugin takes from SGLang could be told in a release."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import LookedAt
from sglang_contracts.verify.rules.history import Timeline


def looked_at(timeline: Timeline, index: int, unresolved: int) -> LookedAt:
    """What was told of a plugin's uses in one release (by index), by symbols.

    Args:
        timeline: All checks over all releases.
        index: Of a release that is reported on.
        unresolved: How many symbols nothing can be said of.
    """
    resolved: set[str] = set()
    by_name: set[str] = set()
    for number, check in enumerate(timeline.checks):
        if check.kind == "clause":
            continue
        entry = timeline.entry(number, index)
        if not (entry.fine or entry.broken):
            continue
        outcome = entry.outcome
        symbol = outcome.found[0].name if entry.fine and outcome.found else outcome.symbol
        if symbol:
            (by_name if outcome.named else resolved).add(symbol)
    return LookedAt(len(resolved), len(by_name - resolved), unresolved)
