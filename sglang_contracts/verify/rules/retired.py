"""Functions that still import, and raise when they are called."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import Cause, Failure
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule

RETIRED = Rule(
    id="retired",
    what="{name} still imports, but calling it raises",
    fix="use {to}",
    page="retired.toml",
    severity=Severity.ERROR,
    role="call",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


def judge_retired(judging: Judging, case: Case) -> Finding | None:
    """A call of a function that still imports and only raises."""
    outcome = case.entry.outcome
    if outcome.owner is None:
        return None
    new = judging.releases[case.at]
    return judging.finding(
        case,
        rule=RETIRED,
        symbol=outcome.symbol,
        suggestion=judging.replacements.of_message(
            outcome.owner, new, judging.catalog.surface(new)
        ),
        role="call",
    )


CAUSE = Cause(
    detects={},  # a call is looked at with its form
    failures=(
        Failure(
            what="retired",
            says="{name}() only raises",
            catches=frozenset(
                {"RuntimeError", "NotImplementedError", "Exception", "BaseException", "*"}
            ),
            judge=judge_retired,
        ),
    ),
    rules=(RETIRED,),
)
