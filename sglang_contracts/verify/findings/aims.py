"""What is said of a plugin that is for a fork of SGLang, or for a release that is not recorded.

A name that no recorded release has is an error, as a rule: it fails in each of them. A plugin that
says it is for a fork, or for a newer release, has it from there: nothing can be told.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    ReleaseReport,
    Report,
    Severity,
    Unresolved,
    Verdict,
)

FOR_FORK = "for-fork"
"""No recorded release has it, and the plugin says that it is for a fork."""
FOR_NEWER = "for-newer"
"""No recorded release has it, and the plugin says that it is for a newer one."""


def aimed_elsewhere(report: Report, reason: str) -> Report:
    """The report with what no recorded release has as unresolved.

    Args:
        report: Of the plugin, as if it were for the recorded releases.
        reason: :data:`FOR_FORK` or :data:`FOR_NEWER`.
    """
    return _each(report, lambda entry: _release(entry, reason))


def _each(report: Report, change: Callable[[ReleaseReport], ReleaseReport]) -> Report:
    releases = tuple(change(entry) for entry in report.releases)
    return msgspec.structs.replace(report, releases=releases)


def _release(entry: ReleaseReport, reason: str) -> ReleaseReport:
    never = [each for each in entry.findings if _is_never(each)]
    if not never:
        return entry
    findings = tuple(each for each in entry.findings if each not in never)
    made = [
        Unresolved(reason, each.symbol, place)
        for each in never
        for place in each.locations or (Location("", 0),)
    ]
    broken = any(each.severity is Severity.ERROR for each in findings)
    return msgspec.structs.replace(
        entry,
        findings=findings,
        known=False,
        unresolved=(*entry.unresolved, *made),
        verdict=Verdict.BROKEN if broken else Verdict.UNKNOWN,
    )


def _is_never(finding: Finding) -> bool:
    """Whether no recorded release has what a finding is about."""
    return (
        finding.severity is Severity.ERROR
        and finding.first_broken is None
        and finding.last_ok is None
        and not finding.clause
        and finding.role != "guard"
    )
