"""GitHub workflow commands: an annotation at each place in a pull request."""

from __future__ import annotations

from sglang_contracts.report.merge import Merged, merged, spans
from sglang_contracts.report.options import Options
from sglang_contracts.report.paths import joined, prefix
from sglang_contracts.report.words import message
from sglang_contracts.verify.findings.finding import Location, Report, Severity, Verdict

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, options: Options) -> str:
    """One line a place; findings without a place, and failing notes, annotate the run."""
    lines: list[str] = []
    start = prefix(report, options)
    for item in merged(report):
        lines += _annotations(item, report, start)
    for note in report.notes:
        level = "error" if note.fails else "notice"
        hint = f" ({note.hint})" if note.hint else ""
        lines.append(_command(level, note.text + hint, _at(note.location, start)))
    for entry in report.releases:
        if entry.verdict is Verdict.UNKNOWN:
            text = f"whether it works with SGLang {entry.release} is unknown"
            lines.append(_command("warning", text, {}))
    return "\n".join(lines)


def _annotations(item: Merged, report: Report, start: str) -> list[str]:
    finding = item.finding
    among = [entry.release for entry in report.releases]
    text = f"SGLang {spans(item.releases, among)}: {message(finding)}"
    title = f"sglang-contracts {finding.rule}"
    level = _LEVELS[finding.severity]
    if not finding.locations:
        return [_command(level, text, {"title": title})]
    return [
        _command(level, text, {**_at(place, start), "title": title}) for place in finding.locations
    ]


def _at(place: Location | None, start: str) -> dict[str, str | int]:
    if place is None:
        return {}
    found: dict[str, str | int] = {"file": joined(start, place.file), "line": place.line}
    if place.column:
        found["col"] = place.column
    return found


def _command(level: str, text: str, properties: dict[str, str | int]) -> str:
    said = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{level}{' ' + said if said else ''}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
