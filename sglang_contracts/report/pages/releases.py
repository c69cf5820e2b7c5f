"""The text of ``releases``."""

from __future__ import annotations

from typing import Any

from sglang_contracts.report.options import Options
from sglang_contracts.report.style import Paint, plural, table, wrapped
from sglang_contracts.report.text import note_lines
from sglang_contracts.verify.findings.finding import Report


def _recorded(report: Report) -> list[dict[str, Any]]:
    recorded = report.facts.get("recorded")
    return recorded if isinstance(recorded, list) else []


def _remark(entry: dict[str, Any]) -> str:
    words = ["in your cache"] if entry["user"] else []
    if entry["problems"]:
        words.append(f"{plural(entry['problems'], 'module')} read in part")
    return ", ".join(words)


def _beyond(report: Report) -> str:
    missing, asked = report.facts.get("beyond"), report.facts.get("index_asked")
    if not asked:
        return "the index has not been asked"
    if not isinstance(missing, list) or not missing:
        return f"the index had none beyond these on {asked}"
    return (
        f"the index had {plural(len(missing), 'release')} beyond these on {asked}: "
        f"{', '.join(missing)}; add them with: sglang-contracts record {' '.join(missing)}"
    )


def _missing(report: Report) -> list[str]:
    missing = report.facts.get("missing")
    return [
        f"not recorded: {each['release']}: {each['reason']}"
        for each in (missing if isinstance(missing, list) else [])
    ]


def text(report: Report, options: Options) -> str:
    """The page."""
    paint = Paint(options.color)
    entries = _recorded(report)
    rows = [(e["release"], f"{e['modules']} modules", _remark(e)) for e in entries]
    lines = table(rows)
    lines.append(f"{plural(len(entries), 'release')} recorded")
    lines += _missing(report)
    style = ("yellow",) if report.facts.get("beyond") else ()
    lines += [paint(line, *style) for line in wrapped(_beyond(report), options.width, "")]
    return "\n".join([*lines, *note_lines(report, options)])


def markdown(report: Report, options: Options) -> str:
    """The page as Markdown."""
    from sglang_contracts.report.markdown import escape, notes

    lines = ["## Recorded releases", "", "| SGLang | modules | |", "|---|---|---|"]
    lines += [
        f"| {entry['release']} | {entry['modules']} | {escape(_remark(entry))} |"
        for entry in _recorded(report)
    ]
    lines += ["", *(f"- {escape(line)}" for line in _missing(report))]
    return "\n".join([*lines, "", escape(_beyond(report)) + ".", "", *notes(report)])
