"""Level 0: what the plugin's source relies on is there. Nothing is imported for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.violation import Inapplicable, Violation

if TYPE_CHECKING:
    from sglang_contracts.verify.findings.finding import Report

_SHOWN = 12


@check(
    "plugin.every-use-resolves",
    0,
    "Everything of SGLang that the plugin's source uses is there in this release",
    why="A renamed field kills the first forward pass.",
)
def _resolves(context: Context) -> None:
    from sglang_contracts.surface import load_catalog
    from sglang_contracts.verify import check_plugin
    from sglang_contracts.verify.findings.finding import Severity
    from sglang_contracts.verify.findings.policy import Policy, select

    subject = context.subject
    if subject.root is None:
        raise Inapplicable("the plugin's source is not known: only its backend was handed over")
    settings = subject.settings
    if settings.supported and not SpecifierSet(settings.supported).contains(context.release):
        raise Inapplicable(
            f"the plugin as a whole claims SGLang {settings.supported} only; in {context.release} "
            "its parts are tested at the interface"
        )
    report = check_plugin(
        subject.root,
        load_catalog(),
        [context.release],
        exclude=settings.exclude,
        known_as=dict(settings.known_as),
    )
    judged = select(report, Policy(accept=settings.accept))
    findings = [
        finding
        for release in judged.report.releases
        for finding in release.findings
        if finding.severity is Severity.ERROR
    ]
    if not findings:
        _everything_was_read(report)
        return
    lines = []
    for finding in findings[:_SHOWN]:
        place = (
            f"{finding.locations[0].file}:{finding.locations[0].line}: "
            if (finding.locations)
            else ""
        )
        use = f" (use {finding.suggestion.symbol})" if finding.suggestion else ""
        lines.append(f"{place}{finding.rule}: {finding.symbol}{use}")
    more = f"\nand {len(findings) - _SHOWN} more" if len(findings) > _SHOWN else ""
    raise Violation(
        f"{len(findings)} uses do not resolve in SGLang {context.release}:\n"
        + "\n".join(lines)
        + more
    )


def _everything_was_read(report: Report) -> None:
    """Raise where a file that may use SGLang was skipped: of that one nothing is known."""
    if report.unread:
        said = "\n".join(f"{note.text}: {note.hint}" for note in report.unread[:_SHOWN])
        raise Violation(f"not all of the plugin's source could be read:\n{said}")
