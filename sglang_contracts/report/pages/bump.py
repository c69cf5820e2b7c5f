"""The text of ``bump``: contracts, differences, plugins, in that order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sglang_contracts.inert import no_log_commands
from sglang_contracts.report.merge import merged
from sglang_contracts.report.options import Options
from sglang_contracts.report.style import Paint, plural, wrapped
from sglang_contracts.report.text import findings_lines, note_lines
from sglang_contracts.report.words import module_of, short
from sglang_contracts.verify.findings.finding import Report

_SHOWN = 20
"""Differences listed without --verbose; beyond, the counts are what matters."""


def text(report: Report, options: Options) -> str:
    """The page."""
    paint = Paint(options.color)
    facts: Any = report.facts
    recorded = facts["recorded"]
    state = "recorded" if recorded["fresh"] else "recorded already"
    lines = [f"SGLang {recorded['release']}: {state}, {recorded['modules']} modules"]
    lines.append(
        f"contracts: {facts['clauses']} clauses checked, {facts['wrong']} wrong"
        + ("; sglang-contracts verify --propose writes the right ranges" if facts["wrong"] else "")
    )
    for proposal in facts["proposals"]:
        sharp = " or ".join(proposal["sharp"]) or "every release"
        said = "in no release: remove it" if proposal["never"] else sharp
        lines += wrapped(f"{proposal['clause']}: {said}", options.width, "  ")
    differences = facts["differences"]
    lines.append(f"since {facts['previous']}: {_counts(differences)}")
    shown = differences if options.verbose else differences[:_SHOWN]
    for each in shown:
        module = module_of(each["symbol"])
        lines.append(
            f"  {each['rule']}: {short(each['symbol'])}"
            + (paint(f"  {module}", "dim") if module else "")
        )
    if len(shown) < len(differences):
        lines.append(f"  ... and {len(differences) - len(shown)} more (--verbose)")
    for plugin in facts["plugins"]:
        lines.append(
            f"plugin {plugin['plugin']}: {plugin['verdict']}, {plural(plugin['errors'], 'error')}, "
            f"{plural(plugin['warnings'], 'warning')}"
        )
    if not facts["plugins"]:
        lines.append("no plugin was checked: name one, or run it beside one with settings")
    return "\n".join(
        [*lines, *findings_lines(report, options, merged(report)), *note_lines(report, options)]
    )


def _counts(differences: Sequence[Any]) -> str:
    counted = Counter(str(each["rule"]).replace("-", " ") for each in differences)
    if not counted:
        return "nothing differs in what contracts speak of"
    return ", ".join(f"{number} {rule}" for rule, number in counted.most_common())


def markdown(report: Report, options: Options) -> str:
    """The page as Markdown."""
    release = report.releases[0].release if report.releases else ""
    body = text(report, Options(width=options.width, verbose=options.verbose))
    fence = "```"
    while fence in body:
        fence += "`"
    return f"## SGLang {release}\n\n{fence}text\n{no_log_commands(body)}\n{fence}\n"
