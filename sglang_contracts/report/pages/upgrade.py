"""The text of ``upgrade``: the verdict, the edits in order, what else may be cleaned up."""

from __future__ import annotations

from typing import Any

from sglang_contracts.report.advice import advice_for, advice_of
from sglang_contracts.report.merge import merged
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import VERDICT_STYLE, Paint, plural, wrapped
from sglang_contracts.report.text import findings_lines, note_lines
from sglang_contracts.report.words import printable, short
from sglang_contracts.verify.findings.finding import Report, Severity


def edits_of(report: Report) -> list[dict[str, Any]]:
    """``facts["edits"]``, or nothing."""
    edits = report.facts.get("edits")
    return edits if isinstance(edits, list) else []


def covers_text(edit: dict[str, Any]) -> str:
    """Which releases the new form covers; empty where it is not known."""
    if edit.get("both"):
        return "one form works before and after"
    if edit.get("works_since"):
        return f"the new form works from {edit['works_since']} on, older ones need the old"
    return ""


def steps(edits: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Edits that follow each other and put the same in place of the same, as one step."""
    found: list[list[dict[str, Any]]] = []
    for edit in edits:
        last = found[-1][-1] if found else None
        keys = ("file", "rule", "symbol", "new")
        if last is not None and all(last.get(key) == edit.get(key) for key in keys):
            found[-1].append(edit)
        else:
            found.append([edit])
    return found


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
    advice = advice_for(report)
    for number, step in enumerate(steps(edits), 1):
        lines += _step(number, step, advice_of(step[0], advice), options)
    if not edits or options.verbose:
        lines += findings_lines(report, options, merged(report))
    needless = report.facts.get("needless")
    if isinstance(needless, list) and needless:
        lines += ["", paint("needless from there on:", "bold")]
        for guard in needless:
            lines += wrapped(
                f"{guard['file']}:{guard['line']}  {guard.get('text', '')}{_way(guard)}",
                options.width,
                "     ",
            )
    lines += note_lines(report, options)
    return "\n".join(lines)


def _step(number: int, step: list[dict[str, Any]], advice: str, options: Options) -> list[str]:
    paint = Paint(options.color)
    edit = step[0]
    indent = "     "
    lines = [f"{number:3}. {short(str(edit['symbol']))} [{edit['rule']}]"]
    for each in step:
        old = f"  {each['old']}" if each.get("old") else ""
        lines += wrapped(printable(f"{each['file']}:{each['line']}{old}"), options.width, indent)
    if edit.get("new"):
        said = printable(f"-> {edit['new']}" + (f" ({edit['note']})" if edit.get("note") else ""))
        lines += [paint(line, "green") for line in wrapped(said, options.width, indent)]
    elif advice:
        lines += [paint(line, "green") for line in wrapped(f"-> {advice}", options.width, indent)]
    facts = [f"since {edit['since']}"] if edit.get("since") else []
    facts += [covers_text(edit)] if covers_text(edit) else []
    facts += ["broken before, too"] if edit.get("already") else []
    if facts:
        lines += [paint(line, "dim") for line in wrapped("; ".join(facts), options.width, indent)]
    return lines


def _way(guard: dict[str, Any]) -> str:
    if "always" not in guard:
        return ""
    if guard.get("kind") == "try":
        return "  (always goes through)" if guard["always"] else "  (never goes through)"
    return "  (always true)" if guard["always"] else "  (always false)"
