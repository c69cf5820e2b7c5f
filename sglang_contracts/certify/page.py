"""A certificate as one self-contained HTML page: no script, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import msgspec

from sglang_contracts.certify.causes import Cause, causes, counted, next_steps, rules_of
from sglang_contracts.certify.certificate import Certificate, Outcome
from sglang_contracts.inert import everywhere
from sglang_contracts.suite.registry import LEVELS

_STYLE = """
:root { color-scheme: light dark; --bad: #c62828; --good: #2e7d32; --odd: #b26a00; --line: #8884 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem }
th, td { border-bottom: 1px solid var(--line) }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere }
pre { background: #8881; padding: .7rem; border-radius: .4rem; white-space: pre-wrap }
ol li { overflow-wrap: anywhere }
.passed, .pass { color: var(--good) } .failed, .fail, .error { color: var(--bad) }
.unknown, .skip, .expected { color: var(--odd) }
.grid td, .grid th { text-align: center } .grid td:first-child { text-align: left }
.seal { font-size: 1.15rem; border: 2px solid currentColor; border-radius: .5rem;
  padding: .5rem 1rem; display: inline-block; margin: .6rem 0 }
details { margin: .3rem 0 } footer { margin-top: 3rem; opacity: .75; font-size: .85em }
@media (prefers-color-scheme: dark) { :root { --bad: #ef7b7b; --good: #79c97d; --odd: #e6b35c } }
@media print { body { max-width: none } details[open] pre { break-inside: avoid } }
"""

_LINES = frozenset({"message", "reason", "reproduction"})
"""What may have several lines."""

_WORDS = {
    "pass": ("holds", "hold"),
    "fail": ("does not hold", "do not hold"),
    "error": ("could not be told", "could not be told"),
    "skip": ("does not apply", "do not apply"),
    "expected": ("is known not to hold", "are known not to hold"),
}
"""Outcome → what one check does, and what several do."""


def render(certificate: Certificate) -> str:
    """The page."""
    plain = everywhere(msgspec.to_builtins(certificate), _LINES)
    certificate = msgspec.convert(plain, Certificate)
    plugin, sglang = certificate.plugin, certificate.sglang
    kind = "a fake of SGLang" if sglang.kind == "fake" else "SGLang"
    title = f"{plugin.name} {plugin.version} on {kind} {sglang.release}"
    level = certificate.level_reached
    seal = {
        "passed": f"Level {level} reached",
        "failed": f"Failed; level {level} reached" if level >= 0 else "Failed",
        "passed with exceptions": "Passed with the exceptions below"
        + (f"; level {level} reached" if level >= 0 else "; no level reached"),
        "unknown": f"Not decided; level {level} reached" if level >= 0 else "Not decided",
    }[certificate.verdict]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f'<p class="seal {certificate.verdict}">{escape(seal)} of {certificate.level_asked}</p>',
        *_thin(certificate),
        f"<p>Issued {escape(certificate.issued.at)} by {escape(certificate.issued.by)}. "
        f"{escape(certificate.note)}</p>",
        *_levels(certificate),
        *_findings(certificate),
        *_next(certificate),
        *_exercised(certificate),
        *_served(certificate),
        *_checks(certificate),
        *_table("Declared capabilities", _plain(certificate.capabilities)),
        *_table("Environment", certificate.environment),
        *_beside(certificate),
        *_table(
            "Digests",
            {
                "certificate": certificate.digest,
                "outcomes (equal where another run agrees)": certificate.outcomes,
                f"plugin ({len(plugin.files)} files)": plugin.digest,
                "wheel": plugin.wheel or "not installed from a wheel that pip has noted",
                f"suite {certificate.suite.version}": certificate.suite.digest,
                "contracted part of the release": sglang.contracts,
            },
        ),
        "<footer>Check it again: <code>sglang-contracts certify --verify certificate.json</code>"
        "</footer>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _served(certificate: Certificate) -> list[str]:
    """The plots and measurements of level 5."""
    if not certificate.serving:
        return []
    from sglang_contracts.serving.page import figures, measurements

    return [*figures(certificate.serving), *measurements(certificate.serving)]


def _plain(table: dict[str, object]) -> dict[str, str]:
    def text(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return ", ".join(text(item) for item in value) or "none"
        if isinstance(value, dict):
            return "; ".join(f"{key}: {text(item)}" for key, item in value.items()) or "none"
        return str(value) or "none"

    return {key: text(value) for key, value in table.items()}


def _count(checks: Sequence[Outcome], outcome: str) -> int:
    return sum(each.outcome == outcome for each in checks)


def _counts(checks: Sequence[Outcome], outcome: str) -> str:
    """``1 check holds``, ``2 checks hold``."""
    number = _count(checks, outcome)
    return f"{counted(number)} {_WORDS[outcome][number > 1]}"


def _levels(certificate: Certificate) -> list[str]:
    rows = ["<h2>Levels</h2><table>", "<tr><th>Level</th><th>Says</th><th>Checks</th></tr>"]
    for level in range(certificate.level_asked + 1):
        mine = [each for each in certificate.checks if each.level == level]
        counts = ", ".join(
            f'<span class="{outcome}">{_counts(mine, outcome)}</span>'
            for outcome in _WORDS
            if _count(mine, outcome)
        )
        name, _, says = LEVELS[level].partition(": ")
        state = "pass" if level <= certificate.level_reached else "fail"
        rows.append(
            f'<tr><td class="{state}">{level} {escape(name)}</td><td>{escape(says)}</td>'
            f"<td>{counts or 'none'}</td></tr>"
        )
    return [*rows, "</table>"]


def _thin(certificate: Certificate) -> list[str]:
    thin = [level for level in certificate.mostly_skipped if level <= certificate.level_reached]
    return [
        f'<p class="unknown">Of level {level}, {_count(mine, "skip")} of {len(mine)} checks were '
        "skipped: it is reached on little evidence. The reasons stand at each check.</p>"
        for level in thin
        for mine in [[each for each in certificate.checks if each.level == level]]
    ]


def _findings(certificate: Certificate) -> list[str]:
    found = causes(certificate)
    rows = ["<h2>Findings</h2>"]
    if not found and not certificate.not_run and not certificate.irregular:
        return [*rows, "<p>None.</p>", *_remarks(certificate)]
    rows += _remarks(certificate)
    if found:
        rows.append("<table><tr><th>Cause</th><th>Checks</th></tr>")
        rows += [
            f'<tr><td class="{cause.outcome}">{escape(cause.line)}{_rules(cause)}</td>'
            f"<td>{_counts(cause.checks, cause.outcome)}</td></tr>"
            for cause in found
        ]
        rows.append("</table>")
    for cause in found:
        rows += _cause(cause)
    if certificate.not_run:
        names = ", ".join(f"<code>{escape(each)}</code>" for each in certificate.not_run)
        ended = f" ({escape(certificate.ended)})" if certificate.ended else ""
        rows.append(f'<p class="unknown">Planned, and did not run{ended}: {names}</p>')
    return rows


def _remarks(certificate: Certificate) -> list[str]:
    return [
        f'<p class="unknown">{escape(each[:1].upper() + each[1:])}.</p>'
        for each in (*certificate.irregular, *certificate.remarks)
    ]


def _rules(cause: Cause) -> str:
    return "".join(f"<br><code>{escape(rule)}</code>" for rule in rules_of(cause))


def _cause(cause: Cause) -> list[str]:
    """A cause by the first check that shows it, and the names of the others."""
    first = cause.first
    rows = [
        f'<details open><summary class="{cause.outcome}"><code>{escape(first.id)}</code> '
        f"{_WORDS[cause.outcome][0]}: {escape(first.title)}</summary>"
    ]
    if first.reason:
        rows.append(f"<p>{escape(first.reason)}</p>")
    if first.message:
        rows.append(f"<pre>{escape(first.message)}</pre>")
    if first.reproduction:
        rows.append(f"<p>Fails alone with:</p><pre>{escape(first.reproduction)}</pre>")
    others = ", ".join(f"<code>{escape(each.id)}</code>" for each in cause.checks[1:])
    if others:
        rows.append(f"<p>For the same reason: {others}</p>")
    return [*rows, "</details>"]


def _next(certificate: Certificate) -> list[str]:
    steps = [f"<li>{escape(each[:1].upper() + each[1:])}</li>" for each in next_steps(certificate)]
    return ["<h2>What to do next</h2><ol>", *steps, "</ol>"] if steps else []


def _exercised(certificate: Certificate) -> list[str]:
    rows = ["<h2>Exercised</h2>"]
    if not certificate.exercised:
        return [*rows, "<p>No forward pass.</p>"]
    modes = list(dict.fromkeys(mode for mode, _, _ in certificate.exercised))
    points = sorted({(dtype, page) for _, dtype, page in certificate.exercised})
    head = "".join(f"<th>{escape(mode)}</th>" for mode in modes)
    rows.append(f'<table class="grid"><tr><th>dtype, page size</th>{head}</tr>')
    for dtype, page in points:
        cells = "".join(
            '<td class="pass">yes</td>'
            if (mode, dtype, page) in certificate.exercised
            else '<td class="unknown">no</td>'
            for mode in modes
        )
        rows.append(f"<tr><td>{escape(dtype)}, {page}</td>{cells}</tr>")
    rows.append("</table>")
    for each in certificate.not_exercised:
        rows.append(f'<p class="unknown">Declared and not exercised: {escape(each)}.</p>')
    return rows


def _checks(certificate: Certificate) -> list[str]:
    rows = ["<h2>Checks</h2><table>", "<tr><th>Check</th><th>What must hold</th><th></th></tr>"]
    for each in certificate.checks:
        notes = "; ".join(part for part in (each.reason, *each.omitted) if part)
        said = f"<br><small>{escape(notes)}</small>" if notes else ""
        rows.append(
            f"<tr><td><code>{escape(each.id)}</code></td><td>{escape(each.title)}{said}</td>"
            f'<td class="{each.outcome}">{_WORDS[each.outcome][0]}</td></tr>'
        )
    return [*rows, "</table>"]


def _beside(certificate: Certificate) -> list[str]:
    """What took part beside the plugin: other code first, then what every run needs."""
    outside = certificate.outside
    needed = {f"{d.name} {d.version}": d.digest for d in certificate.dependencies}
    rows = _table("Code and settings outside the plugin", outside) if outside else []
    return [*rows, *(_table("What the suite and SGLang need", needed) if needed else [])]


def _table(title: str, values: dict[str, str]) -> list[str]:
    rows = [
        f"<tr><td>{escape(key)}</td><td><code>{escape(value)}</code></td></tr>"
        for key, value in values.items()
    ]
    return [f"<h2>{escape(title)}</h2><table>", *rows, "</table>"]
