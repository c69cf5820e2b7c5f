"""The text of ``upgrade``: the verdict, the edits in order, what else may be cleaned up."""

from __future__ import annotations

from typing import Any

from sglang_contracts.report.options import Options
from sglang_contracts.report.style import VERDICT_STYLE, Paint, plural, wrapped
from sglang_contracts.report.text import findings_lines, note_lines
from sglang_contracts.report.words import short
from sglang_contracts.verify.finding import Report, Severity


def edits_of(report: Report) -> list[dict[str, Any]]:
    """``facts["edits"]``, or nothing."""
    edits = report.facts.get("edits")
    return edits if isinstance(edits, list) else []


def covers_text(edit: dict[str, Any]) -> str:
    """Which releases the new form covers; empty where it is not known."""
    covered = [str(release) for release in edit.get("covers") or ()]
    if edit.get("both"):
        return "works before and after"
    if not covered:
        return ""
    span = covered[0] if len(covered) == 1 else f"{covered[0]} ... {covered[-1]}"
    return f"the new form works in {span}"


def text(report: Report, options: Options) -> str:
    """The page."""
    paint = Paint(options.color)
    lines: list[str] = []
    start = report.facts.get("from", "?")
    for entry in report.releases:
        errors = sum(f.severity is Severity.ERROR for f in entry.findings)
        verdict = paint(entry.verdict.value, *VERDICT_STYLE[entry.verdict])
        lines.append(f"{start} -> {entry.release}: {verdict}, {plural(errors, 'break')}")
    edits = edits_of(report)
    if edits:
        lines += ["", paint(f"{plural(len(edits), 'edit')}, in order:", "bold")]
    for number, edit in enumerate(edits, 1):
        lines.append(f"{number:3}. {edit['file']}:{edit['line']}  {short(str(edit['symbol']))}")
        if edit.get("old"):
            lines += [
                paint(line, "red") for line in wrapped(f"- {edit['old']}", options.width, "     ")
            ]
        if edit.get("new"):
            lines += [
                paint(line, "green") for line in wrapped(f"+ {edit['new']}", options.width, "     ")
            ]
        facts = [f"since {edit['since']}"] if edit.get("since") else []
        facts += [covered] if (covered := covers_text(edit)) else []
        facts.append(f"[{edit['rule']}]")
        lines += [paint(line, "dim") for line in wrapped(", ".join(facts), options.width, "     ")]
    if not edits or options.verbose:
        lines += findings_lines(report, options)
    needless = report.facts.get("needless")
    if isinstance(needless, list) and needless:
        lines += ["", paint("needless from there on:", "bold")]
        for guard in needless:
            lines += wrapped(
                f"{guard['file']}:{guard['line']}  {guard.get('text', '')}", options.width, "     "
            )
    lines += note_lines(report, options)
    return "\n".join(lines)
