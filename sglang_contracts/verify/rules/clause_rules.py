"""What ``verify`` and ``diff`` say of clauses; no plugin can have such a finding."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import Severity
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule

_PAGE = "clause_rules.toml"


def clause_rule(id: str, what: str, fix: str = "use {to}", page: str = "") -> Rule:
    """A rule on clauses: undated, an error at worst, merged with no other."""
    return Rule(
        id=id,
        what=what,
        fix=fix,
        page=page,
        severity=Severity.ERROR,
        role="clause",
        absent=False,
        merges_with=ALONE,
        edit=Edit.NONE,
        argument=False,
        dated=False,
    )


CLAUSE_BOUNDS = clause_rule("clause-bounds", "{name}", "run {to}", _PAGE)
CLAUSE_SIGNATURE = clause_rule("clause-signature", "{name}()", "write {to}", _PAGE)
CLAUSE_REPLACEMENT = clause_rule("clause-replacement", "{name}", "write {to}", _PAGE)
REMOVED = clause_rule("removed", "{name} was removed")
CHANGED = clause_rule("changed", "{name} changed")
ADDED = clause_rule("added", "{name} was added")
NEWLY_EXPECTED = clause_rule("newly-expected", "{name} is newly expected of a plugin's object")

CLAUSE_RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        CLAUSE_BOUNDS,
        CLAUSE_SIGNATURE,
        CLAUSE_REPLACEMENT,
        REMOVED,
        CHANGED,
        ADDED,
        NEWLY_EXPECTED,
    )
}
"""Id → rule."""
