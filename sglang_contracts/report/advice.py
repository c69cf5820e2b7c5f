"""What to do about an edit of ``upgrade`` for which no new form is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sglang_contracts.report.words import fix
from sglang_contracts.verify.findings.finding import Report


def advice_for(report: Report) -> dict[tuple[str, str], str]:
    """(rule, symbol) of each finding → what to do about it in a sentence; may be empty."""
    return {
        (finding.rule, finding.symbol): fix(finding)
        for entry in report.releases
        for finding in entry.findings
    }


def advice_of(edit: Mapping[str, Any], advice: Mapping[tuple[str, str], str]) -> str:
    """The sentence for an entry of ``facts["edits"]``; empty where nothing can be said."""
    return advice.get((str(edit.get("rule", "")), str(edit.get("symbol", ""))), "")
