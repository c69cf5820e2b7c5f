"""What ``verify`` and ``diff`` say of clauses; no plugin can have such a finding."""

from __future__ import annotations

from sglang_contracts.verify.rules import clause_difference, clause_inexact
from sglang_contracts.verify.rules.rule import Rule

CLAUSE_RULES: dict[str, Rule] = {
    rule.id: rule for each in (clause_inexact, clause_difference) for rule in each.RULES
}
"""Id → rule."""
