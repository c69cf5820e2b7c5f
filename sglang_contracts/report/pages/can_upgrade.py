"""The text of ``can-upgrade``: one line, and with ``--verbose`` what changed."""

from __future__ import annotations

from sglang_contracts.report.merge import first_break
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import VERDICT_STYLE, Paint, plural
from sglang_contracts.report.words import open_end, short, since, what
from sglang_contracts.verify.findings.finding import Report, Severity, Verdict


def answer_line(report: Report) -> str:
    """The reason of the answer, without the answer itself."""
    (entry,) = report.releases
    errors = sum(finding.severity is Severity.ERROR for finding in entry.findings)
    if entry.verdict is Verdict.BROKEN:
        first = first_break(entry)
        head = f"{what(first)}, {since(first)}" if first else "it breaks"
        return head + (f"; {errors - 1} more" if errors > 1 else "")
    if entry.verdict is Verdict.UNKNOWN:
        if entry.unresolved:
            more = len(entry.unresolved) - 1
            return open_end(entry.unresolved[0]) + (f"; {more} more" if more else "")
        return "not all of the plugin could be read"
    start, used = report.facts.get("from"), report.facts.get("used")
    if start is None:
        return "nothing it uses is missing or different; it works with no older release"
    changed = report.facts.get("changed")
    count = len(changed) if isinstance(changed, list) else 0
    if not count:
        return f"nothing it uses changed since {start}: no retest needed"
    return (
        f"all {used} things it uses hold; {count} of them changed since {start}: "
        "run the conformance suite"
    )


def text(report: Report, options: Options) -> str:
    """The page."""
    (entry,) = report.releases
    answer = str(report.facts.get("answer", ""))
    word = Paint(options.color)(answer, *VERDICT_STYLE[entry.verdict])
    lines = [f"{word}: {entry.release}: {answer_line(report)}"]
    warnings = sum(finding.severity is Severity.WARNING for finding in entry.findings)
    if warnings and not options.quiet:
        lines[0] += f" ({plural(warnings, 'warning')})"
    changed = report.facts.get("changed")
    if options.verbose and isinstance(changed, list):
        lines += [f"  changed: {short(str(symbol))}" for symbol in changed]
    return "\n".join(lines)


def markdown(report: Report, options: Options) -> str:
    """The page as Markdown."""
    from sglang_contracts.report.markdown import code, escape

    (entry,) = report.releases
    lines = [f"**{report.facts.get('answer')}**: {entry.release}: {escape(answer_line(report))}"]
    changed = report.facts.get("changed")
    if isinstance(changed, list) and changed:
        lines += ["", *(f"- {code(str(symbol))}" for symbol in changed)]
    return "\n".join(lines)
