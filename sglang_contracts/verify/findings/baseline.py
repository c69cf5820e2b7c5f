"""A baseline file: findings that are there already, so that only new ones are told."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.files import read_regular
from sglang_contracts.verify.findings.finding import Finding, Location, Report, Severity

MAX_BYTES = 64 << 20


class Entry(msgspec.Struct, frozen=True, order=True):
    """One place of one finding: a finding at ten places has ten entries."""

    rule: str
    symbol: str
    file: str = ""
    """Empty for a finding without a place."""
    line: int = 0


class Baseline(msgspec.Struct, frozen=True):
    """What a baseline file holds."""

    schema: int
    entries: tuple[Entry, ...]
    tool: str = ""


def baseline_of(report: Report, tool: str) -> Baseline:
    """All errors and warnings of a report as a baseline."""
    entries = {
        Entry(finding.rule, finding.symbol, place.file, place.line)
        for release in report.releases
        for finding in release.findings
        if finding.severity is not Severity.NOTE
        for place in finding.locations or (Location("", 0),)
    }
    return Baseline(1, tuple(sorted(entries)), tool)


def baseline_text(baseline: Baseline) -> str:
    """The text of a baseline file: one entry a line, sorted, so that its diff can be read."""
    entries = ",\n".join(
        "  " + json.dumps(msgspec.to_builtins(entry), ensure_ascii=False)
        for entry in baseline.entries
    )
    head = f'{{"schema": {baseline.schema}, "tool": {json.dumps(baseline.tool)}, "entries": ['
    return f"{head}\n{entries}\n]}}\n" if entries else f"{head}]}}\n"


def load_baseline(path: Path) -> Baseline:
    """Read a baseline file.

    Raises:
        ContractsError: It cannot be read or is not one.
    """
    hint = "write a new one with --write-baseline"
    try:
        raw = read_regular(path, MAX_BYTES)
    except OSError as error:
        raise ContractsError(
            f"cannot read the baseline {path}: {error.strerror or error}", hint
        ) from error
    try:
        baseline = msgspec.json.decode(raw, type=Baseline)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as error:
        raise ContractsError(f"{path} is not a baseline file: {error}", hint) from error
    if baseline.schema != 1:
        raise ContractsError(
            f"{path} is a baseline of form {baseline.schema}; this version reads form 1", hint
        )
    return baseline


class Matcher:
    """Tells which places a baseline covers, and which of its entries cover none.

    An entry matches by rule, symbol, file and line. What is left over is then matched by rule,
    symbol and file in the order of lines, so that an edit above a finding does not make it new;
    one place more than the baseline has is still one new place.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._lines: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for entry in sorted(set(entries)):
            self._lines[entry.rule, entry.symbol, entry.file].append(entry.line)
        self._unused = set(entries)

    @property
    def unused(self) -> list[Entry]:
        """Entries that no place has matched so far."""
        return sorted(self._unused)

    def covered(self, findings: Sequence[Finding]) -> set[tuple[str, str, Location]]:
        """What of one release the baseline has: rule, symbol and place of each.

        Notes are never in a baseline.
        """
        places: dict[tuple[str, str, str], set[Location]] = defaultdict(set)
        for finding in findings:
            if finding.severity is not Severity.NOTE:
                for place in finding.locations or (Location("", 0),):
                    places[finding.rule, finding.symbol, place.file].add(place)
        found: set[tuple[str, str, Location]] = set()
        for (rule, symbol, file), here in places.items():
            known = self._lines.get((rule, symbol, file), [])
            exact = [place for place in sorted(here) if place.line in known]
            moved = [place for place in sorted(here) if place.line not in known]
            left = [line for line in known if line not in {place.line for place in exact}]
            pairs = [(place, place.line) for place in exact]
            pairs += list(zip(moved, left, strict=False))
            for place, line in pairs:
                found.add((rule, symbol, place))
                self._unused.discard(Entry(rule, symbol, file, line))
        return found
