"""What a matrix adds to its findings: the compatible range and the requirement."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sglang_contracts.verify.commands.requirement import describe, intervals, requirement
from sglang_contracts.verify.findings.finding import Report, Verdict


def with_range(report: Report, recorded: Sequence[str] = ()) -> Report:
    """The report with ``compatible`` (the releases), ``ranges`` (in words), ``requirement``.

    Args:
        report: What was found, release by release.
        recorded: All releases that exist; one that the report does not have is unknown, so that a
            requirement never admits what was not looked at.
    """
    verdicts = dict.fromkeys(recorded, Verdict.UNKNOWN)
    verdicts |= {entry.release: entry.verdict for entry in report.releases}
    facts = {
        **report.facts,
        "compatible": [
            entry.release for entry in report.releases if entry.verdict is Verdict.COMPATIBLE
        ],
        "ranges": describe(intervals(verdicts)),
        "requirement": requirement(verdicts),
    }
    return msgspec.structs.replace(report, facts=facts)
