"""One self-contained HTML page: no script, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sglang_contracts import __version__
from sglang_contracts.report.merge import Merged, by_file, counts, first_break, merged, spans
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import plural
from sglang_contracts.report.words import evidence, fix, no_range, since, what
from sglang_contracts.verify.findings.finding import Report, Severity

_STYLE = """
:root { color-scheme: light dark; --bad: #c62828; --good: #2e7d32; --odd: #b26a00; --line: #8884 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem }
th, td { border-bottom: 1px solid var(--line) }
code { font-family: ui-monospace, monospace; font-size: .92em; overflow-wrap: anywhere }
.broken, .error { color: var(--bad) } .compatible { color: var(--good) }
.unknown, .warning { color: var(--odd) } .note { opacity: .8 }
.strip { display: flex; flex-wrap: wrap; gap: 3px; margin: 1rem 0 }
.strip span { padding: .1rem .45rem; border: 1px solid currentColor; border-radius: .3rem }
.strip span { font-size: .85em }
li { margin: .6rem 0 } footer { margin-top: 3rem; opacity: .7; font-size: .85em }
@media (prefers-color-scheme: dark) { :root { --bad: #ef7b7b; --good: #79c97d; --odd: #e6b35c } }
"""


def render(report: Report, options: Options) -> str:
    """The page."""
    who = "SGLang contracts"
    if report.plugin is not None:
        who = " ".join(part for part in (report.plugin.name, report.plugin.version) if part)
    items = merged(report)
    found = counts(items)
    total = ", ".join(
        plural(found[severity], severity.value)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE)
    )
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(who)}: {escape(report.command)}</title>",
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{escape(who)} on {plural(len(report.releases), 'release')} of SGLang</h1>",
        f"<p>{total}.</p>",
        *_requirement(report),
        *_strip(report),
        *_findings(report, items),
        *_table(report),
        *_notes(report),
        f"<footer>sglang-contracts {escape(__version__)} {escape(report.command)}</footer>",
        "</body></html>",
    ]
    return "\n".join(parts)


def _requirement(report: Report) -> list[str]:
    if "requirement" not in report.facts:
        return []
    requirement = report.facts["requirement"]
    if not requirement:
        return [f'<p class="broken">{no_range(report).capitalize()}.</p>']
    return [f"<p>Requirement: <code>{escape(str(requirement))}</code></p>"]


def _strip(report: Report) -> list[str]:
    return [
        '<div class="strip">',
        *(
            f'<span class="{entry.verdict.value}" title="{entry.verdict.value}">'
            f"{escape(entry.release)}</span>"
            for entry in report.releases
        ),
        "</div>",
    ]


def _table(report: Report) -> list[str]:
    rows = ["<h2>Releases</h2>", "<table><thead><tr>"]
    rows += [f"<th>{name}</th>" for name in ("SGLang", "verdict", "errors", "first break")]
    rows.append("</tr></thead><tbody>")
    for entry in report.releases:
        first = first_break(entry)
        errors = sum(f.severity is Severity.ERROR for f in entry.findings)
        rows.append(
            f"<tr><td>{escape(entry.release)}</td>"
            f'<td class="{entry.verdict.value}">{entry.verdict.value}</td>'
            f"<td>{errors}</td><td>{escape(what(first)) if first else ''}</td></tr>"
        )
    return [*rows, "</tbody></table>"]


def _findings(report: Report, items: Sequence[Merged]) -> list[str]:
    among = [entry.release for entry in report.releases]
    parts: list[str] = []
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        chosen = [item for item in items if item.finding.severity is severity]
        if not chosen:
            continue
        parts.append(f"<h2>{severity.value.capitalize()}s</h2><ul>")
        for item in chosen:
            finding = item.finding
            when = f", {since(finding)}" if since(finding) else ""
            lines = [
                f'<b class="{severity.value}">{escape(what(finding))}</b>{escape(when)} '
                f"<code>{escape(finding.rule)}</code>"
            ]
            if fix(finding):
                basis = (
                    f" <small>[{escape(evidence(finding))}]</small>" if evidence(finding) else ""
                )
                if len(item.suggested) < len(item.releases):
                    basis += escape(f", in {spans(item.suggested, among)}")
                lines.append(f"fix: {escape(fix(finding))}{basis}")
            if finding.by_name:
                lines.append("rests on the name of the object alone")
            for file, numbers in by_file(finding.locations).items():
                lines.append(f"<code>{escape(file)}:{','.join(map(str, numbers))}</code>")
            if len(among) > 1:
                lines.append(f"in {escape(spans(item.releases, among))}")
            parts.append(f"<li>{'<br>'.join(lines)}</li>")
        parts.append("</ul>")
    return parts


def _notes(report: Report) -> list[str]:
    if not report.notes:
        return []
    parts = ["<h2>About this run</h2><ul>"]
    for note in report.notes:
        place = f"{note.location.file}:{note.location.line}: " if note.location else ""
        hint = f" ({note.hint})" if note.hint else ""
        kind = "error" if note.fails else "note"
        parts.append(f'<li class="{kind}">{escape(place + note.text + hint)}</li>')
    return [*parts, "</ul>"]
