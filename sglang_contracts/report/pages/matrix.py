"""The text of ``matrix``: a line for each release, then the range and the requirement."""

from __future__ import annotations

from sglang_contracts.report.merge import counts, first_break, merged
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import VERDICT_STYLE, Paint, plural, wrapped
from sglang_contracts.report.text import note_lines
from sglang_contracts.report.words import no_range, short
from sglang_contracts.verify.findings.finding import Report, Severity


def text(report: Report, options: Options) -> str:
    """The page."""
    paint = Paint(options.color)
    lines = []
    column = max((len(entry.release) for entry in report.releases), default=0)
    for entry in report.releases:
        verdict = paint(f"{entry.verdict.value:10}", *VERDICT_STYLE[entry.verdict])
        first = first_break(entry)
        told = ""
        if first is not None:
            errors = sum(f.severity is Severity.ERROR for f in entry.findings)
            place = (
                f"{first.locations[0].file}:{first.locations[0].line} " if first.locations else ""
            )
            more = f" (+{errors - 1} more)" if errors > 1 else ""
            told = (
                cut(
                    f"{place}{first.rule} {short(first.symbol)}",
                    options.width - column - 14 - len(more),
                )
                + more
            )
        lines.append(f"{entry.release:{column}}  {verdict}  {told}".rstrip())
    lines += note_lines(report, options)
    found = counts(merged(report))
    lines.append("")
    lines += range_lines(report, options)
    lines.append(
        f"{plural(len(report.releases), 'release')}: "
        f"{plural(found[Severity.ERROR], 'error')}, {plural(found[Severity.WARNING], 'warning')}, "
        f"{plural(found[Severity.NOTE], 'note')} (different ones)"
    )
    return "\n".join(lines)


def range_lines(report: Report, options: Options) -> list[str]:
    """The compatible releases and the requirement."""
    paint = Paint(options.color)
    ranges, requirement = report.facts.get("ranges"), report.facts.get("requirement")
    if not isinstance(ranges, list) or not ranges:
        return [paint(no_range(report), "red")]
    compatible = report.facts.get("compatible")
    number = len(compatible) if isinstance(compatible, list) else 0
    said = f"compatible: {', '.join(ranges)} ({number} of {len(report.releases)})"
    return [
        *wrapped(said, options.width, ""),
        "requirement: " + paint(str(requirement), "bold"),
    ]


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns, an ellipsis where something is left out."""
    width = max(width, 20)
    return text if len(text) <= width else text[: width - 3].rstrip() + "..."
