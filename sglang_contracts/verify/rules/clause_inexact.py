"""Rules of ``verify`` on contracts that a release does not confirm."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import Severity
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule

CLAUSE_BOUNDS = Rule(
    id="clause-bounds",
    what="{name}",
    fix="run {to}",
    dated=False,
    page="clause_inexact.toml",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
CLAUSE_SIGNATURE = Rule(
    id="clause-signature",
    what="{name}()",
    fix="write {to}",
    dated=False,
    page="clause_inexact.toml",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
CLAUSE_REPLACEMENT = Rule(
    id="clause-replacement",
    what="{name}",
    fix="write {to}",
    dated=False,
    page="clause_inexact.toml",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
RULES = (
    CLAUSE_BOUNDS,
    CLAUSE_SIGNATURE,
    CLAUSE_REPLACEMENT,
)
