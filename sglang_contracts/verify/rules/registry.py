"""All causes, in order, and what the rest of the tool looks up in them."""

from __future__ import annotations

from importlib import import_module

from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.verify.rules.cause import Cause, Detect, Failure
from sglang_contracts.verify.rules.rule import Rule

ORDER = (
    "name_gone",
    "member_gone",
    "call_form",
    "argument_place",
    "argument_type",
    "result_form",
    "operation_on_kind",
    "enum_text",
    "class_kind",
    "retired",
    "patch_unreached",
    "override_signature",
    "override_orphaned",
    "hook_missing",
    "attribute_unset",
    "launch_word_gone",
    "launch_value_wrong",
    "switch_default_flipped",
    "registry_key",
    "contract_clause",
    "version_guard_wrong",
    "context_manager_removed",
)
"""Modules of this package, one for each cause.

Where several look at one kind of use, the first that can tell how it fares decides.
"""


def cause_of(module: str) -> Cause:
    """The cause that a module of this package carries.

    Raises:
        TypeError: Its ``CAUSE`` is something else.
    """
    cause = import_module(f"{__package__}.{module}").CAUSE
    if not isinstance(cause, Cause):
        raise TypeError(f"{module}.CAUSE")
    return cause


CAUSES = tuple(cause_of(module) for module in ORDER)
"""All causes, in order."""

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
