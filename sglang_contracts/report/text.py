"""The report for people: short, grouped, the fix beside the break."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from sglang_contracts.report.merge import (
    Merged,
    by_file,
    counts,
    merged,
    silences,
    spans,
    with_verdict,
)
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import (
    SEVERITY_STYLE,
    VERDICT_STYLE,
    Paint,
    places,
    plural,
    wrapped,
)
from sglang_contracts.report.words import (
    evidence,
    fix,
    open_end,
    printable,
    silenced_message,
    since,
    what,
)
from sglang_contracts.verify.findings.finding import Report, Severity, Silenced, Verdict

_OWN_PAGE = frozenset(
    {
        "bump",
        "can-upgrade",
        "diff",
        "doctor",
        "explain",
        "matrix",
        "plan",
        "record",
        "releases",
        "upgrade",
        "uses",
        "verify",
    }
)
"""Commands whose text is a page of their own: ``report/pages/<command>.py``."""

_INDENT = " " * 9

_OPEN_ENDS = 8
"""Things of which nothing can be said that a text report lists."""


def render(report: Report, options: Options) -> str:
    """The report as text."""
    if report.command in _OWN_PAGE:
        module = importlib.import_module(
            f"sglang_contracts.report.pages.{report.command.replace('-', '_')}"
        )
        page: str = module.text(report, options)
        return page
    items = merged(report)
    return "\n".join(
        [
            *head_lines(report, options),
            *findings_lines(report, options, items),
            *note_lines(report, options),
            *summary_lines(report, options, items),
        ]
    )


def head_lines(report: Report, options: Options) -> list[str]:
    """How much of what the plugin takes from SGLang could be told, in the newest release shown."""
    counted = [entry for entry in report.releases if entry.looked_at is not None]
    if not counted or options.quiet or report.command != "check":
        return []
    newest, looked = counted[-1].release, counted[-1].looked_at
    assert looked is not None
    text = (
        f"{plural(looked.resolved, 'symbol')} of SGLang resolved in {newest}, "
        f"{looked.by_name} more by the name of an object alone, {looked.unresolved} unresolved"
    )
    return wrapped(text, options.width, "")


def findings_lines(report: Report, options: Options, items: Sequence[Merged]) -> list[str]:
    """Every finding to be shown, those that rest on a name alone below a line of their own."""
    shown = [
        item for item in items if options.verbose or item.finding.severity is not Severity.NOTE
    ]
    sure = [item for item in shown if not item.finding.by_name]
    guessed = [item for item in shown if item.finding.by_name]
    lines = [line for item in sure for line in finding_lines(item, report, options)]
    if guessed:
        paint = Paint(options.color)
        lines.append(paint("resting on the name of an object alone:", "bold"))
        lines += [line for item in guessed for line in finding_lines(item, report, options)]
    return lines


def finding_lines(item: Merged, report: Report, options: Options) -> list[str]:
    """One finding: what and since when, the fix, the places, the releases where not all have it."""
    paint = Paint(options.color)
    finding = item.finding
    head = what(finding)
    when = since(finding, brief=not options.verbose)
    if when:
        # Behind a detail a bare "since" would read as part of it.
        detailed = bool(finding.detail or (finding.old and finding.new))
        head += f", {when}" if detailed or not when.startswith("since") else f" {when}"
    first, *rest = wrapped(f"{head} [{finding.rule}]", options.width, _INDENT)
    label = paint(finding.severity.value, *SEVERITY_STYLE[finding.severity])
    pad = " " * (len(_INDENT) - len(finding.severity.value))
    lines = [label + pad + first[len(_INDENT) :], *rest]
    among = [entry.release for entry in report.releases]
    where = places(by_file(finding.locations), options.width, _INDENT)
    if len(item.releases) < len(among):
        span = f"in {spans(item.releases, among)}"
        if where and len(where[-1]) + 2 + len(span) <= options.width:
            where[-1] += f"  {span}"
        else:
            where += wrapped(span, options.width, _INDENT)
    to_do = _advice(item, among)
    if to_do and len(where) == 1 and len(where[0]) + 2 + len(to_do) <= options.width:
        return [*lines, f"{where[0]}  {paint(to_do, 'cyan')}"]
    advice = wrapped(to_do, options.width, _INDENT) if to_do else []
    return [*lines, *(paint(line, "cyan") for line in advice), *where]


def _advice(item: Merged, among: list[str]) -> str:
    """``fix: ...`` with its evidence, and for which releases where not for all; may be empty."""
    to_do = fix(item.finding)
    if not to_do:
        return ""
    if evidence(item.finding):
        to_do += f" [{evidence(item.finding)}]"
    if len(item.suggested) < len(item.releases):
        to_do += f", in {spans(item.suggested, among)}"
    return f"fix: {to_do}"


def note_lines(report: Report, options: Options) -> list[str]:
    """What is to be said about the run: skipped files, stale entries."""
    paint = Paint(options.color)
    lines = []
    for note in report.notes:
        if options.quiet and not note.fails:
            continue
        place = f"{note.location.file}:{note.location.line}: " if note.location else ""
        hint = f" ({note.hint})" if note.hint else ""
        label, styles = ("error", ("red", "bold")) if note.fails else ("info", ("blue",))
        first, *rest = wrapped(printable(f"{place}{note.text}{hint}"), options.width, _INDENT)
        lines += [
            paint(label, *styles) + " " * (len(_INDENT) - len(label)) + first[len(_INDENT) :],
            *rest,
        ]
    return lines


def verdict_lines(report: Report, options: Options) -> list[str]:
    """Which releases are what; nothing for a verdict that none has."""
    paint = Paint(options.color)
    among = [entry.release for entry in report.releases]
    lines = []
    for verdict in (Verdict.BROKEN, Verdict.UNKNOWN, Verdict.COMPATIBLE):
        having = with_verdict(report, verdict)
        if having:
            indent = " " * 12
            number = f" ({len(having)} of {len(among)})" if len(among) > 1 else ""
            first, *rest = wrapped(spans(having, among) + number, options.width, indent)
            label = paint(verdict.value, *VERDICT_STYLE[verdict])
            lines += [label + " " * (12 - len(verdict.value)) + first[12:], *rest]
            if verdict is Verdict.UNKNOWN:
                lines += unresolved_lines(report, options)
    return lines


def unresolved_lines(report: Report, options: Options) -> list[str]:
    """Why verdicts are unknown: each thing that could not be resolved, with its place."""
    open_ends = dict.fromkeys(
        each
        for entry in report.releases
        if entry.verdict is Verdict.UNKNOWN
        for each in entry.unresolved
    )
    lines: list[str] = []
    for each in list(open_ends)[:_OPEN_ENDS]:
        lines += wrapped(open_end(each), options.width, " " * 12)
    if len(open_ends) > _OPEN_ENDS:
        lines.append(" " * 12 + f"and {len(open_ends) - _OPEN_ENDS} more (--format json has all)")
    return lines


def silenced_lines(report: Report, options: Options) -> list[str]:
    """What was found and is not reported, or reported softer: counted, and listed if asked for."""
    counted = silences(report)
    lines: list[str] = []
    if options.show_silenced:
        places: dict[Silenced, list[str]] = {}
        for entry in report.releases:
            for each in entry.silenced:
                places.setdefault(each, []).append(entry.release)
        among = [entry.release for entry in report.releases]
        for each, having in sorted(places.items(), key=lambda one: one[0].location):
            place = f"{each.location.file}:{each.location.line}"
            said = f"{place}: {silenced_message(each)}"
            if len(having) < len(among):
                said += f" in {spans(having, among)}"
            lines += wrapped(printable(said), options.width, "  ")
    if counted and not options.quiet:
        ranked = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
        reasons = ", ".join(f"{reason} {number}" for reason, number in ranked)
        more = "" if options.show_silenced else " (--show-silenced lists them)"
        lines += wrapped(
            f"{sum(counted.values())} silenced: {reasons}{more}", options.width, " " * 12
        )
    return lines


def summary_lines(report: Report, options: Options, items: Sequence[Merged]) -> list[str]:
    """The verdicts, and one line of counts."""
    found = counts(items)
    lines = verdict_lines(report, options)
    words = [
        plural(found[Severity.ERROR], "error"),
        plural(found[Severity.WARNING], "warning"),
        plural(found[Severity.NOTE], "note"),
    ]
    text = ", ".join(words)
    by_name = sum(
        item.finding.by_name and item.finding.severity is not Severity.NOTE for item in items
    )
    if by_name:
        text += f"; {by_name} of them on a name alone"
    if found[Severity.NOTE] and not options.verbose:
        text += " (--verbose shows the notes)"
    hidden = report.facts.get("hidden")
    if isinstance(hidden, dict) and hidden:
        reasons = ", ".join(f"{number} {why}" for why, number in sorted(hidden.items()))
        text += f"; not shown: {reasons}"
    who = ""
    if report.plugin is not None:
        who = " ".join(part for part in (report.plugin.name, report.plugin.version) if part) + ": "
    if not report.releases:
        text = "no release was checked"
    return [*lines, *silenced_lines(report, options), *wrapped(who + text, options.width, "")]
