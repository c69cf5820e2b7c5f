"""The text of ``doctor``: each symptom, whether it was found, by what evidence, and its mend."""

from __future__ import annotations

from typing import Any

from sglang_contracts.report.options import Options
from sglang_contracts.report.style import Paint, wrapped
from sglang_contracts.report.text import note_lines
from sglang_contracts.verify.findings.finding import Report

_STYLES = {"ok": ("green",), "found": ("red", "bold"), "cannot tell": ("yellow",)}


def _entries(report: Report) -> list[dict[str, Any]]:
    found = report.facts.get("diagnoses")
    return found if isinstance(found, list) else []


def _summary(report: Report) -> str:
    counts = dict.fromkeys(_STYLES, 0)
    for entry in _entries(report):
        counts[entry["status"]] += 1
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def text(report: Report, options: Options) -> str:
    """The page."""
    paint, lines = Paint(options.color), list[str]()
    for entry in _entries(report):
        if options.quiet and entry["status"] != "found":
            continue
        status = paint(f"{entry['status']:<11}", *_STYLES[entry["status"]])
        lines.append(f"{status}  {entry['check']}: {entry['title']}")
        indent = " " * 13
        shown = entry["evidence"] if entry["status"] != "ok" or options.verbose else []
        for said in shown:
            lines += wrapped(said, options.width, indent)
        if entry["status"] == "found":
            lines += wrapped(f"seen as: {entry['symptom']}", options.width, indent)
            lines += wrapped(f"mend: {entry['mend']}", options.width, indent)
    return "\n".join([*lines, _summary(report), *note_lines(report, options)])


def markdown(report: Report, options: Options) -> str:
    """The page as Markdown."""
    from sglang_contracts.report.markdown import escape, notes

    lines = ["## Diagnosis", "", "| | check | evidence | mend |", "|---|---|---|---|"]
    for entry in _entries(report):
        mend = entry["mend"] if entry["status"] == "found" else ""
        said = "; ".join(entry["evidence"])
        lines.append(
            f"| {entry['status']} | `{entry['check']}` | {escape(said)} | {escape(mend)} |"
        )
    return "\n".join([*lines, "", _summary(report), "", *notes(report)])
