"""What results come to: the level reached, and what stays unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sglang_contracts.suite.capabilities import Capabilities
from sglang_contracts.suite.result import Result

PASSED, EXCEPTIONS, UNKNOWN, FAILED = "passed", "passed with exceptions", "unknown", "failed"
"""Verdicts, from good to bad."""

IDLE = "idle"
"""The forward mode that computes nothing."""


def unexercised(capabilities: Capabilities, used: Iterable[tuple[str, str, int]]) -> list[str]:
    """Sentences on what is declared and was not exercised by any passing check."""
    seen = set(used)
    found = []
    if capabilities.modes and not {*capabilities.modes} - {IDLE}:
        found.append("a forward pass with tokens: none but idle ones are declared")
    for mode in capabilities.modes:
        if not any(each[0] == mode for each in seen):
            found.append(f"forward mode {mode}")
            continue
        for dtype in capabilities.dtypes:
            if not any(each[0] == mode and each[1] == dtype for each in seen):
                found.append(f"dtype {dtype} in mode {mode}")
        for page in capabilities.page_sizes:
            if not any(each[0] == mode and each[2] == page for each in seen):
                found.append(f"page size {page} in mode {mode}")
    return found


def reached(results: Sequence[Result], highest: int) -> int:
    """The highest level all of whose checks, and those below, are fine; -1: none.

    A skip does not lower the level: its sentence stands in the certificate. A level all of whose
    checks were skipped is not reached by that, nor does it keep one above from being reached: below
    0.5.11 nothing of a plugin's loading applies. An expected failure lowers it: it is known, and
    still a failure.
    """
    level = -1
    for each in range(highest + 1):
        mine = [result for result in results if result.level == each]
        if any(result.outcome not in ("pass", "skip") for result in mine):
            break
        if any(result.outcome == "pass" for result in mine) or not mine:
            level = each
    return level


def mostly_skipped(results: Sequence[Result]) -> tuple[int, ...]:
    """Levels of which more checks were skipped than held: little was shown by reaching them."""
    held, skipped = Counter[int](), Counter[int]()
    for result in results:
        held[result.level] += result.outcome == "pass"
        skipped[result.level] += result.outcome == "skip"
    return tuple(level for level in sorted(skipped) if skipped[level] > held[level])


def verdict(
    results: Sequence[Result],
    missing: Sequence[str],
    open_points: Sequence[str],
    irregular: Sequence[str] = (),
) -> str:
    """One of :data:`PASSED`, :data:`EXCEPTIONS`, :data:`UNKNOWN`, :data:`FAILED`.

    Args:
        results: All results.
        missing: Planned checks without a result.
        open_points: What was declared and not exercised.
        irregular: What was written among the results by somebody else: nothing is shown by them.
    """
    outcomes = {result.outcome for result in results}
    if irregular:
        return UNKNOWN
    if "fail" in outcomes:
        return FAILED
    if missing or open_points or "error" in outcomes:
        return UNKNOWN
    return EXCEPTIONS if "expected" in outcomes else PASSED
