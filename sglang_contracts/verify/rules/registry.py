"""All causes, in order, and what the rest of the tool looks up in them."""

from __future__ import annotations

from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.verify.rules import (
    argument_place,
    argument_type,
    call_form,
    contract_clause,
    enum_text,
    hook_missing,
    launch_word_gone,
    member_gone,
    name_gone,
    operation_on_kind,
    override_orphaned,
    override_signature,
    registry_key,
    result_form,
    retired,
    switch_default_flipped,
    version_guard_wrong,
)
from sglang_contracts.verify.rules.cause import Cause, Detect, Failure
from sglang_contracts.verify.rules.rule import Rule

CAUSES: tuple[Cause, ...] = (
    name_gone.CAUSE,
    member_gone.CAUSE,
    call_form.CAUSE,
    argument_place.CAUSE,
    argument_type.CAUSE,
    result_form.CAUSE,
    operation_on_kind.CAUSE,
    enum_text.CAUSE,
    retired.CAUSE,
    override_signature.CAUSE,
    override_orphaned.CAUSE,
    hook_missing.CAUSE,
    launch_word_gone.CAUSE,
    switch_default_flipped.CAUSE,
    registry_key.CAUSE,
    contract_clause.CAUSE,
    version_guard_wrong.CAUSE,
)
"""Where several look at one kind of use, the first that can tell how it fares decides."""

DETECTS: dict[UseKind, tuple[Detect, ...]] = {
    kind: tuple(cause.detects[kind] for cause in CAUSES if kind in cause.detects)
    for kind in UseKind
}
"""Kind of use → what looks at it, in order."""

FAILURES: dict[str, Failure] = {each.what: each for cause in CAUSES for each in cause.failures}
"""``Outcome.what`` → the failure."""

CATCHES = {what: failure.catches for what, failure in FAILURES.items()}
"""``Outcome.what`` → exceptions whose ``except`` clauses catch it."""

RULES: dict[str, Rule] = {rule.id: rule for cause in CAUSES for rule in cause.rules}
"""Id → rule: what a finding on a plugin can be."""

MERGES_WITH = {rule.id: rule.merges_with for rule in RULES.values()}
"""Rule → the rules that already say it: what merging findings goes by."""
