"""Functions that still import, and raise when they are called."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import Finding
from sglang_contracts.verify.rules.case import Case, Judging


def judge_retired(judging: Judging, case: Case) -> Finding | None:
    """A call of a function that still imports and only raises."""
    outcome = case.entry.outcome
    if outcome.owner is None:
        return None
    new = judging.releases[case.at]
    return judging.finding(
        case,
        rule="retired",
        severity=judging.severity(case),
        symbol=outcome.symbol,
        locations=judging.location(case),
        suggestion=judging.replacements.of_message(
            outcome.owner, new, judging.catalog.surface(new)
        ),
        role="call",
    )
