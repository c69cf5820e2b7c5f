"""The text of ``verify``: what is wrong by clause, the coverage, and how much was checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sglang_contracts.report.merge import spans
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import Paint, plural, table, wrapped
from sglang_contracts.report.text import note_lines
from sglang_contracts.report.words import printable, short
from sglang_contracts.verify.findings.finding import Finding, Report

_INDENT = " " * 9


def text(report: Report, options: Options) -> str:
    """The page."""
    paint = Paint(options.color)
    among = [entry.release for entry in report.releases]
    lines: list[str] = []
    for (rule, clause, _, place), (finding, releases) in _by_clause(report).items():
        where = f"{place} " if place else ""
        head = f"{where}{clause or finding.symbol}: {_fact(finding)} [{rule}]"
        first, *rest = wrapped(printable(head), options.width, _INDENT)
        lines += [paint("error", "red", "bold") + "    " + first[len(_INDENT) :], *rest]
        lines += wrapped(f"in {spans(releases, among)}", options.width, _INDENT)
    for proposal in _list(report.facts.get("proposals")):
        lines += wrapped(_proposal(proposal), options.width, "")
    lines += note_lines(report, options)
    if not options.quiet:
        lines += _coverage(report)
        lines += _evidence(report, options)
    return "\n".join([*lines, *wrapped(summary(report), options.width, "")])


def summary(report: Report) -> str:
    """Clauses, releases, how many pairs were checked, how many are wrong."""
    facts = report.facts
    wrong = len(_by_clause(report))
    unproved = facts.get("unproved") or 0
    more = f"; {unproved} clauses need a running release" if unproved else ""
    return (
        f"{facts.get('clauses', 0)} clauses x {plural(len(report.releases), 'release')}: "
        f"{facts.get('checked', 0)} checked, {wrong} wrong{more}"
    )


def _by_clause(
    report: Report,
) -> dict[tuple[str, str, str, str], tuple[Finding, list[str]]]:
    """What is wrong, by clause: the same in several releases is one entry."""
    found: dict[tuple[str, str, str, str], tuple[Finding, list[str]]] = {}
    for entry in report.releases:
        for finding in entry.findings:
            place = (
                f"{finding.locations[0].file}:{finding.locations[0].line}"
                if finding.locations
                else ""
            )
            key = (finding.rule, finding.clause, finding.new, place)
            found.setdefault(key, (finding, []))[1].append(entry.release)
    return found


def _fact(finding: Finding) -> str:
    if finding.rule == "clause-bounds":
        return f"{short(finding.symbol)} is {finding.new}, but the range says '{finding.old}'"
    return f"{short(finding.symbol)} {finding.detail}"


def _proposal(proposal: Mapping[str, Any]) -> str:
    if proposal.get("never"):
        return f"proposal: {proposal['clause']}: no recorded release has it, remove it"
    sharp = proposal.get("sharp") or []
    said = " or ".join(sharp) if sharp else "every release"
    return f"proposal: {proposal['clause']}: {said} (verify --propose writes it)"


def _coverage(report: Report) -> list[str]:
    coverage = report.facts.get("coverage")
    if not isinstance(coverage, dict) or not coverage:
        return []
    rows = []
    for name, (contracted, mined) in sorted(coverage.items()):
        share = f"{contracted / mined:.0%}" if mined else "-"
        rows.append((name, f"{contracted}/{mined}", share))
    return ["contracted of what SGLang reads or calls:", *(f"  {row}" for row in table(rows))]


_LEGEND = (
    "seen: a value or a call, as stated",
    "present: on an object that the engine made, or in its worker; the clause states no more",
    "declared: by a class alone, or what is stated of the value was not seen",
    "confirmed: seen or present, and not there in the releases outside the range",
)


def _evidence(report: Report, options: Options) -> list[str]:
    """What running releases have shown: by contract, and with ``--verbose`` by clause."""
    rows = _list(report.facts.get("evidence"))
    if not rows:
        return []
    releases = ", ".join(_list(report.facts.get("evidence_releases")))
    lines = [f"shown by engine runs of {releases}:"]
    if options.verbose:
        for row in rows:
            lines += wrapped(f"{row['clause']}: {_shown(row)}", options.width, "  ")
        return lines
    by_contract: dict[str, list[str]] = {}
    for row in rows:
        by_contract.setdefault(row["clause"].partition("/")[0], []).append(row["status"])
    cells = []
    for name, statuses in sorted(by_contract.items()):
        seen, present = statuses.count("seen"), statuses.count("present")
        cells.append(
            (
                name,
                f"{seen + present} confirmed",
                f"({seen} seen, {present} present)",
                f"{statuses.count('declared')} declared",
                f"{statuses.count('not-exercised')} not exercised",
                f"{statuses.count('contradicted')} contradicted",
                f"{(seen + present) / len(statuses):.0%}",
            )
        )
    lines += [f"  {row}" for row in table(cells)]
    for line in _LEGEND:
        lines += wrapped(line, options.width, "  ")
    return lines


def _shown(row: Mapping[str, Any]) -> str:
    if row["contradicted"]:
        return f"contradicted: {'; '.join(row['contradicted'])}"
    said = []
    if row["seen"]:
        modes = f" ({', '.join(row['modes'])})" if row["modes"] else ""
        said.append(f"seen in {', '.join(row['seen'])}{modes}")
    if row["present"]:
        said.append(f"present in {', '.join(row['present'])}")
    if row["declared"]:
        said.append(f"only declared in {', '.join(row['declared'])}")
    if said and row["absent"]:
        said.append(f"not there in {', '.join(row['absent'])}")
    return "; ".join(said) or "not exercised"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
