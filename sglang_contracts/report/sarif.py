"""SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import quote

from sglang_contracts import __version__
from sglang_contracts.report.merge import Merged, merged, spans
from sglang_contracts.report.options import Options
from sglang_contracts.report.paths import joined, prefix
from sglang_contracts.report.words import message
from sglang_contracts.verify.findings.finding import Location, Report, Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render(report: Report, options: Options) -> str:
    """The report as one SARIF run; equal findings of several releases are one result."""
    items = merged(report)
    rules = sorted({item.finding.rule for item in items})
    start = prefix(report, options)
    run = {
        "tool": {
            "driver": {
                "name": "sglang-contracts",
                "version": __version__,
                "rules": [
                    {
                        "id": rule,
                        "shortDescription": {"text": rule.replace("-", " ")},
                        "help": {"text": f"sglang-contracts explain {rule}"},
                    }
                    for rule in rules
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {
                        "level": "error" if note.fails else "note",
                        "message": {"text": note.text + (f" ({note.hint})" if note.hint else "")},
                        **(
                            {"locations": [_location(note.location, start)]}
                            if note.location
                            else {}
                        ),
                    }
                    for note in report.notes
                ],
            }
        ],
        "results": [_result(item, report, rules, start) for item in items],
        "properties": {
            "releases": {entry.release: entry.verdict.value for entry in report.releases}
        },
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _result(item: Merged, report: Report, rules: list[str], start: str) -> dict[str, Any]:
    finding = item.finding
    among = [entry.release for entry in report.releases]
    # The place is left out: an edit above a finding must not make it a new alert.
    identity = "\0".join([finding.rule, finding.symbol, *_files(finding.locations)])
    return {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"SGLang {spans(item.releases, among)}: {message(finding)}"},
        "locations": [_location(place, start) for place in finding.locations],
        "partialFingerprints": {
            "ruleSymbolFile/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[
                :32
            ]
        },
        "properties": {
            "symbol": finding.symbol,
            "releases": list(item.releases),
            "lastOk": finding.last_ok or "",
            "firstBroken": finding.first_broken or "",
            "restsOnName": finding.by_name,
        },
    }


def _files(locations: tuple[Location, ...]) -> list[str]:
    return sorted({place.file for place in locations})


def _location(place: Location, start: str) -> dict[str, Any]:
    region: dict[str, int] = {"startLine": max(place.line, 1)}
    if place.column:
        region["startColumn"] = place.column
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(joined(start, place.file), errors="replace")},
            "region": region,
        }
    }
