"""The JSON report: a stable frame, with schemas in ``docs/schemas``."""

from __future__ import annotations

import json
from typing import Any

from sglang_contracts import __version__
from sglang_contracts.report.merge import order, silences
from sglang_contracts.report.options import Options
from sglang_contracts.report.words import message, silenced_message
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    Note,
    ReleaseReport,
    Report,
)

_PLAIN = Options()

SCHEMA = 1
"""Raised only when a reader of the old form could be misled; new keys do not raise it."""


def location_document(location: Location) -> dict[str, Any]:
    """A place, with its column where that is known."""
    place: dict[str, Any] = {"file": location.file, "line": location.line}
    if location.column:
        place["column"] = location.column
    return place


def finding_document(finding: Finding) -> dict[str, Any]:
    """A finding; what is not known is null, what does not apply is left out."""
    document: dict[str, Any] = {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "symbol": finding.symbol,
        "locations": [location_document(place) for place in finding.locations],
        "last_ok": finding.last_ok,
        "first_broken": finding.first_broken,
        "suggestion": None,
        "role": finding.role,
        "by_name": finding.by_name,
        "message": message(finding),
    }
    if finding.suggestion is not None:
        document["suggestion"] = {
            "symbol": finding.suggestion.symbol,
            "evidence": finding.suggestion.evidence,
        }
        if finding.suggestion.note:
            document["suggestion"]["note"] = finding.suggestion.note
    for key in ("old", "new", "detail", "clause", "softened"):
        value = getattr(finding, key)
        if value:
            document[key] = value
    return document


def unresolved_document(entry: ReleaseReport) -> dict[str, Any]:
    """What a release leaves open; nothing where all was resolved."""
    if not entry.unresolved:
        return {}
    return {
        "unresolved": [
            {
                "reason": each.reason,
                "symbol": each.symbol,
                "location": location_document(each.location),
            }
            for each in entry.unresolved
        ]
    }


def silenced_document(entry: ReleaseReport, options: Options) -> dict[str, Any]:
    """How many places each reason keeps quiet; and, if asked for, which."""
    if not entry.silences:
        return {}
    document: dict[str, Any] = {"silenced": entry.silences}
    if options.show_silenced:
        document["silences"] = [
            {
                "reason": each.reason,
                "symbol": each.symbol,
                "location": location_document(each.location),
                "message": silenced_message(each),
            }
            for each in entry.silenced
        ]
    return document


def looked_at_document(entry: ReleaseReport) -> dict[str, Any]:
    """How many symbols could be told; nothing where that was not counted."""
    counted = entry.looked_at
    if counted is None:
        return {}
    return {
        "looked_at": {
            "resolved": counted.resolved,
            "by_name": counted.by_name,
            "unresolved": counted.unresolved,
        }
    }


def note_document(note: Note) -> dict[str, Any]:
    """Something about the run."""
    document: dict[str, Any] = {"text": note.text, "fails": note.fails}
    if note.location is not None:
        document["location"] = location_document(note.location)
    if note.hint:
        document["hint"] = note.hint
    if note.unread:
        document["unread"] = note.unread
    return document


def frame(report: Report, options: Options = _PLAIN) -> dict[str, Any]:
    """The whole report as plain values; ``report.facts`` stand at the top level."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": f"sglang-contracts {__version__}",
        "command": report.command,
    }
    if report.plugin is not None:
        document["plugin"] = {
            "name": report.plugin.name,
            "version": report.plugin.version,
            "path": report.plugin.path,
        }
    document["releases"] = [
        {
            "release": entry.release,
            "verdict": entry.verdict.value,
            "findings": [finding_document(f) for f in sorted(entry.findings, key=order)],
            **unresolved_document(entry),
            **silenced_document(entry, options),
            **looked_at_document(entry),
        }
        for entry in report.releases
    ]
    if any(entry.silences for entry in report.releases):
        document["silenced"] = silences(report)
    document["notes"] = [note_document(note) for note in report.notes]
    for key, value in report.facts.items():
        document.setdefault(key, value)
    return document


def render(report: Report, options: Options) -> str:
    """The report as JSON, indented."""
    import msgspec

    return json.dumps(msgspec.to_builtins(frame(report, options)), indent=2, ensure_ascii=False)
