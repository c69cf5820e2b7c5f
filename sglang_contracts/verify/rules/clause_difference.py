"""What ``diff`` says of clauses: no rules on a plugin, but told by the same sentences."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import Severity
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule

REMOVED = Rule(
    id="removed",
    what="{name} was removed",
    fix="use {to}",
    dated=False,
    page="",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
CHANGED = Rule(
    id="changed",
    what="{name} changed",
    fix="use {to}",
    dated=False,
    page="",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
ADDED = Rule(
    id="added",
    what="{name} was added",
    fix="use {to}",
    dated=False,
    page="",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
NEWLY_EXPECTED = Rule(
    id="newly-expected",
    what="{name} is newly expected of a plugin's object",
    fix="use {to}",
    dated=False,
    page="",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
RULES = (
    REMOVED,
    CHANGED,
    ADDED,
    NEWLY_EXPECTED,
)
