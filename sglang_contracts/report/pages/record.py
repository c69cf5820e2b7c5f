"""The text of ``record``."""

from __future__ import annotations

from sglang_contracts.report.options import Options
from sglang_contracts.report.text import note_lines
from sglang_contracts.verify.findings.finding import Report


def _sentences(report: Report) -> list[str]:
    recorded = report.facts.get("recorded")
    lines = []
    for entry in recorded if isinstance(recorded, list) else []:
        if entry["fresh"]:
            lines.append(
                f"SGLang {entry['release']}: {entry['modules']} modules recorded in {entry['path']}"
            )
        else:
            lines.append(f"SGLang {entry['release']} is recorded already (--force does it again)")
    return lines


def text(report: Report, options: Options) -> str:
    """The page."""
    return "\n".join([*_sentences(report), *note_lines(report, options)])


def markdown(report: Report, options: Options) -> str:
    """The page as Markdown."""
    from sglang_contracts.report.markdown import escape, notes

    return "\n".join([*(f"- {escape(line)}" for line in _sentences(report)), "", *notes(report)])
