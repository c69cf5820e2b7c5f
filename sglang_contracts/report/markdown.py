"""Markdown, for a pull request's summary or an issue."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence

from sglang_contracts.report.advice import advice_for, advice_of
from sglang_contracts.report.merge import Merged, by_file, counts, first_break, merged, spans
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import plural
from sglang_contracts.report.words import evidence, fix, no_range, since, what
from sglang_contracts.verify.findings.finding import Report, Severity, Verdict

_MARKS = {Verdict.BROKEN: "❌", Verdict.UNKNOWN: "❔", Verdict.COMPATIBLE: "✅"}
_OWN_PAGE = frozenset(
    {"bump", "can-upgrade", "diff", "doctor", "explain", "plan", "record", "releases", "uses"}
)
"""Commands whose page renders its own Markdown; the others are made of findings."""


def render(report: Report, options: Options) -> str:
    """The report as Markdown."""
    if report.command in _OWN_PAGE:
        module = importlib.import_module(
            f"sglang_contracts.report.pages.{report.command.replace('-', '_')}"
        )
        page: str = module.markdown(report, options)
        return page
    items = merged(report)
    return "\n".join(
        [
            *_head(report, items),
            *release_table(report),
            *_range(report),
            *_edits(report),
            *_findings(report, items),
            *notes(report),
        ]
    )


_MARK = re.compile(r"[\\`*_\[\]<>|#~&$@]|(?<=:)/(?=/)|(?<=\bwww)\.", re.IGNORECASE)
"""What could be markup anywhere in a text; addresses become links by themselves."""
_START = re.compile(r"([-+=])|(\d+)(?=[.)])")
"""What could begin a list or underline a heading where a text begins."""


def escape(text: str) -> str:
    """Text that stands in a paragraph or a table cell as it is."""
    text = _MARK.sub(r"\\\g<0>", " ".join(text.split()))
    begin = _START.match(text)
    if begin is None:
        return text
    return f"\\{text}" if begin.group(1) else f"{begin.group(2)}\\{text[begin.end() :]}"


def code(text: str) -> str:
    """Text in a code span; in a table use :func:`cell`."""
    text = " ".join(text.split())
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    # A blank on both sides is taken away again; without it a tick could join the fence.
    return f"{ticks} {text} {ticks}" if len(ticks) > 1 else f"`{text or ' '}`"


_TICKS = re.compile("`+")


def cell(text: str) -> str:
    """Text in a code span in a table, which is cut at its bars before spans are looked for."""
    return code(text).replace("|", "\\|")


def _head(report: Report, items: Sequence[Merged]) -> list[str]:
    who = ""
    if report.plugin is not None:
        who = " ".join(part for part in (report.plugin.name, report.plugin.version) if part)
    found = counts(items)
    total = ", ".join(
        plural(found[severity], severity.value)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE)
    )
    title = f"## sglang-contracts {report.command}" + (f": {escape(who)}" if who else "")
    return [title, "", total + ".", ""]


def release_table(report: Report) -> list[str]:
    """One row a release: verdict, number of errors and warnings, first break."""
    if not report.releases:
        return ["No release was checked.", ""]
    lines = ["| SGLang | verdict | errors | warnings | first break |", "|---|---|---|---|---|"]
    for entry in report.releases:
        number = {
            severity: sum(f.severity is severity for f in entry.findings) for severity in Severity
        }
        first = first_break(entry)
        lines.append(
            f"| {entry.release} | {_MARKS[entry.verdict]} {entry.verdict.value} "
            f"| {number[Severity.ERROR]} | {number[Severity.WARNING]} "
            f"| {escape(what(first)) if first else ''} |"
        )
    return [*lines, ""]


def _range(report: Report) -> list[str]:
    requirement = report.facts.get("requirement")
    if "requirement" not in report.facts:
        return []
    if not requirement:
        return [f"{no_range(report).capitalize()}.", ""]
    return [f"Requirement: {code(str(requirement))}", ""]


def _edits(report: Report) -> list[str]:
    edits = report.facts.get("edits")
    if not isinstance(edits, list) or not edits:
        return []
    advice = advice_for(report)
    lines = ["### Edits, in order", "", "| place | old | new | since |", "|---|---|---|---|"]
    for edit in edits:
        new = cell(str(edit["new"])) if edit.get("new") else escape(advice_of(edit, advice))
        lines.append(
            f"| {cell(str(edit['file']) + ':' + str(edit['line']))} "
            f"| {cell(str(edit.get('old') or edit['symbol']))} "
            f"| {new} | {edit.get('since') or ''} |"
        )
    lines.append("")
    needless = report.facts.get("needless")
    if isinstance(needless, list) and needless:
        lines += ["### Needless from there on", ""]
        for guard in needless:
            place = code(f"{guard['file']}:{guard['line']}")
            lines.append(f"- {place} {escape(str(guard.get('text', '')))}")
        lines.append("")
    return lines


def _findings(report: Report, items: Sequence[Merged]) -> list[str]:
    among = [entry.release for entry in report.releases]
    lines: list[str] = []
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        chosen = [item for item in items if item.finding.severity is severity]
        if not chosen:
            continue
        folded = severity is Severity.NOTE
        if folded:
            lines += ["<details><summary>Notes</summary>", ""]
        else:
            lines += [f"### {severity.value.capitalize()}s", ""]
        for item in chosen:
            finding = item.finding
            when = f", {since(finding)}" if since(finding) else ""
            lines.append(f"- **{escape(what(finding))}**{escape(when)} ({code(finding.rule)})")
            if fix(finding):
                basis = f" _({escape(evidence(finding))})_" if evidence(finding) else ""
                if len(item.suggested) < len(item.releases):
                    basis += f", in {spans(item.suggested, among)}"
                lines.append(f"  - fix: {escape(fix(finding))}{basis}")
            if finding.by_name:
                lines.append("  - rests on the name of the object alone")
            for file, numbers in by_file(finding.locations).items():
                lines.append(f"  - {code(file)}: {', '.join(map(str, numbers))}")
            if len(among) > 1:
                lines.append(f"  - in {spans(item.releases, among)}")
        lines.append("")
        if folded:
            lines += ["</details>", ""]
    return lines


def notes(report: Report) -> list[str]:
    """What is to be said about the run."""
    if not report.notes:
        return []
    lines = ["### About this run", ""]
    for note in report.notes:
        place = f"{code(f'{note.location.file}:{note.location.line}')} " if note.location else ""
        hint = f" ({escape(note.hint)})" if note.hint else ""
        mark = "❌ " if note.fails else ""
        lines.append(f"- {mark}{place}{escape(note.text)}{hint}")
    return [*lines, ""]
