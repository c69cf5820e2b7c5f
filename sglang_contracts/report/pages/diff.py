"""The text of ``diff``: removed, changed, newly expected, added."""

from __future__ import annotations

from sglang_contracts.report.merge import order
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import Paint, plural, wrapped
from sglang_contracts.report.text import note_lines
from sglang_contracts.report.words import fix, module_of, printable, short
from sglang_contracts.verify.findings.finding import Finding, Report

_SECTIONS = (
    ("removed", "-", "red"),
    ("behaviour-changed", "!", "yellow"),
    ("changed", "~", "yellow"),
    ("newly-expected", "?", "yellow"),
    ("added", "+", "green"),
)


def sections(report: Report) -> dict[str, list[Finding]]:
    """Rule → its findings, in the order of importance."""
    found: dict[str, list[Finding]] = {rule: [] for rule, _, _ in _SECTIONS}
    for entry in report.releases:
        for finding in sorted(entry.findings, key=lambda f: (f.symbol, order(f))):
            rule = finding.rule if finding.rule in found else "behaviour-changed"
            found[rule].append(finding)
    return {rule: findings for rule, findings in found.items() if findings}


def change(finding: Finding) -> str:
    """What differs, in a few words; empty where the section says it all."""
    if finding.old and finding.new:
        return f"{finding.old} -> {finding.new}"
    return finding.detail or finding.new or ""


def text(report: Report, options: Options) -> str:
    """The page."""
    paint = Paint(options.color)
    marks = {rule: (mark, style) for rule, mark, style in _SECTIONS}
    lines: list[str] = []
    for rule, findings in sections(report).items():
        mark, style = marks[rule]
        lines.append(paint(f"{rule.replace('-', ' ')} ({len(findings)})", "bold"))
        for finding in findings:
            module = module_of(finding.symbol)
            name = short(finding.symbol)
            lines.append(
                f"  {paint(mark, style)} {name}" + (paint(f"  {module}", "dim") if module else "")
            )
            told = [change(finding)] if rule != "removed" and change(finding) else []
            if finding.suggestion is not None:
                told.append(fix(finding))
            for each in told:
                lines += wrapped(printable(each), options.width, "      ")
    lines += note_lines(report, options)
    total = sum(len(entry.findings) for entry in report.releases)
    facts = report.facts
    lines.append(
        f"{facts.get('old')} -> {facts.get('new')}: {plural(total, 'difference')} in "
        f"{facts.get('compared')} compared"
    )
    return "\n".join(lines)


def markdown(report: Report, options: Options) -> str:
    """The page as Markdown."""
    from sglang_contracts.report.markdown import code, escape, notes

    facts = report.facts
    lines = [f"## SGLang {facts.get('old')} → {facts.get('new')}", ""]
    for rule, findings in sections(report).items():
        lines += [f"### {rule.replace('-', ' ').capitalize()}", ""]
        for finding in findings:
            told = f": {escape(change(finding))}" if change(finding) else ""
            hint = f" ({escape(fix(finding))})" if finding.suggestion is not None else ""
            lines.append(f"- {code(finding.symbol)}{told}{hint}")
        lines.append("")
    if not any(entry.findings for entry in report.releases):
        lines += ["Nothing differs.", ""]
    return "\n".join([*lines, *notes(report)])
