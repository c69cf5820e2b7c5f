"""Findings that are the same in several releases, told once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    ReleaseReport,
    Report,
    Severity,
    Verdict,
)


@dataclass(frozen=True)
class Merged:
    """One break, and the releases of the report in which it stands."""

    finding: Finding
    """As the newest of these releases has it."""
    releases: tuple[str, ...]
    suggested: tuple[str, ...]
    """Those of the releases for which the finding's suggestion is right."""


def merged(report: Report) -> list[Merged]:
    """The findings of all releases, the same break once: worst first, then by place.

    What is suggested may differ from release to release, and with it whether a thing is told as
    removed, moved or renamed: that is the same break, told as the newest release has it.
    """
    breaks: dict[tuple[object, ...], list[tuple[str, Finding]]] = {}
    for release in report.releases:
        for finding in _joined(release.findings):
            breaks.setdefault(_identity(finding), []).append((release.release, finding))
    found = []
    for versions in breaks.values():
        newest = versions[-1][1]
        found.append(
            Merged(
                newest,
                tuple(release for release, _ in versions),
                tuple(r for r, finding in versions if finding.suggestion == newest.suggestion),
            )
        )
    # Ordered by place only: the order in which an engine meets things must not show.
    return sorted(found, key=lambda item: order(item.finding))


_FATES = ("-removed", "-moved", "-renamed")


def _identity(finding: Finding) -> tuple[object, ...]:
    """Equal for findings that are the same break in different releases."""
    kind = finding.rule
    for fate in _FATES:
        kind = kind.removesuffix(fate)
    return (
        finding.severity,
        kind,
        finding.symbol,
        finding.locations,
        finding.by_name,
        finding.first_broken,
        finding.detail or (finding.old, finding.new),  # only one of the two is told
        finding.clause,
    )


def _joined(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that differ in their places only, as one with all the places."""
    alike: dict[Finding, set[Location]] = {}
    for finding in findings:
        bare = msgspec.structs.replace(finding, locations=())
        alike.setdefault(bare, set()).update(finding.locations)
    return [
        msgspec.structs.replace(bare, locations=tuple(sorted(places)))
        for bare, places in alike.items()
    ]


def order(finding: Finding) -> tuple[int, bool, str, int, str, str]:
    """Sorting key of a finding: errors first, those that rest on a name last, then by place."""
    first = finding.locations[0] if finding.locations else Location("\uffff", 0)
    return (
        -finding.severity.rank,
        finding.by_name,
        first.file,
        first.line,
        finding.rule,
        finding.symbol,
    )


def first_break(entry: ReleaseReport) -> Finding | None:
    """The error of a release that comes first, sure ones before guesses; None without an error."""
    errors = [finding for finding in entry.findings if finding.severity is Severity.ERROR]
    return min(errors, key=order, default=None)


def by_file(locations: Iterable[Location]) -> dict[str, list[int]]:
    """File → its lines, each once, ascending."""
    files: dict[str, list[int]] = {}
    for location in sorted(locations):
        lines = files.setdefault(location.file, [])
        if location.line not in lines:
            lines.append(location.line)
    return files


def spans(members: Sequence[str], among: Sequence[str]) -> str:
    """Releases in few words: ``0.5.13 ... 0.5.16, 0.5.20``.

    Args:
        members: Some of ``among``, in its order.
        among: All releases of the report; a run of neighbours in it becomes ``first ... last``.
    """
    positions = [among.index(release) for release in members]
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][-1] + 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    words = []
    for run in runs:
        if len(run) <= 2:
            words += [among[position] for position in run]
        else:
            words.append(f"{among[run[0]]} ... {among[run[-1]]}")
    return ", ".join(words)


def with_verdict(report: Report, verdict: Verdict) -> list[str]:
    """The releases of the report with a verdict."""
    return [entry.release for entry in report.releases if entry.verdict is verdict]


def counts(items: Iterable[Merged]) -> dict[Severity, int]:
    """How many different findings there are of each severity, over all releases."""
    found: dict[Severity, int] = dict.fromkeys(Severity, 0)
    for item in items:
        found[item.finding.severity] += 1
    return found


def silences(report: Report) -> dict[str, int]:
    """Reason → places that it keeps quiet, or makes less grave, in one release or another."""
    places: dict[str, set[object]] = {}
    for entry in report.releases:
        for each in entry.silenced:
            places.setdefault(each.reason, set()).add((each.symbol, each.location))
        for finding in entry.findings:
            if finding.softened:
                held = places.setdefault(finding.softened, set())
                held.update((finding.symbol, place) for place in finding.locations)
    return {reason: len(places[reason]) for reason in sorted(places)}
