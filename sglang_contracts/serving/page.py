"""A serving report as one self-contained HTML page, with its plots."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from html import escape
from typing import Any

import msgspec

from sglang_contracts.serving.plot import Plot, svg
from sglang_contracts.serving.report import Report

_STYLE = """
:root { color-scheme: light dark; --bad: #c62828; --good: #2e7d32; --odd: #b26a00; --line: #8884 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } h2 { margin-top: 2rem; font-size: 1.15rem }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem }
th, td { border-bottom: 1px solid var(--line) }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere }
pre { background: #8881; padding: .7rem; border-radius: .4rem; white-space: pre-wrap }
.passed, .pass { color: var(--good) } .failed, .fail, .error { color: var(--bad) }
.unknown, .skip { color: var(--odd) } figure { margin: 1rem 0 }
.seal { font-size: 1.15rem; border: 2px solid currentColor; border-radius: .5rem;
  padding: .5rem 1rem; display: inline-block; margin: .6rem 0 }
@media (prefers-color-scheme: dark) { :root { --bad: #ef7b7b; --good: #79c97d; --odd: #e6b35c } }
"""

WORDS = {
    "pass": "holds",
    "fail": "does not hold",
    "error": "could not be told",
    "skip": "does not apply",
    "expected": "known not to hold",
}


def render(report: Report) -> str:
    """The page."""
    title = f"Level 5 (serving) on SGLang {report.release or 'of unknown release'}"
    seal = {"passed": "Level 5 holds", "failed": "Level 5 does not hold"}
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f'<p class="seal {report.verdict}">{seal.get(report.verdict, "Not decided")}</p>',
        *section(report),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def section(report: Report) -> list[str]:
    """The report's tables and plots, without a page around them."""
    parts = ["<h2>Checks</h2><table><tr><th>Check</th><th>Outcome</th><th>Seconds</th></tr>"]
    for each in report.checks:
        more = "".join(f"<br>{escape(text)}" for text in (each.reason, *each.omitted) if text)
        parts.append(
            f"<tr><td><code>{escape(each.id)}</code><br>{escape(each.title)}{more}</td>"
            f'<td class="{each.outcome}">{WORDS[each.outcome]}</td><td>{each.seconds:.1f}</td></tr>'
        )
        if each.message:
            parts.append(f'<tr><td colspan="3"><pre>{escape(each.message)}</pre></td></tr>')
    parts.append("</table>")
    if report.not_run:
        names = ", ".join(f"<code>{escape(each)}</code>" for each in report.not_run)
        parts.append(f'<p class="unknown">Not run ({escape(report.ended)}): {names}</p>')
    kept = msgspec.to_builtins(report)
    return [*parts, *figures(kept), *measurements(kept)]


def figures(kept: Mapping[str, Any]) -> list[str]:
    """The plots of a report, or of what a certificate keeps of one."""
    found: list[str] = []
    for content in dict(kept.get("plots") or {}).values():
        with contextlib.suppress(msgspec.ValidationError, ValueError):
            found.append(f"<figure>{svg(msgspec.convert(content, Plot))}</figure>")
    return found


def measurements(kept: Mapping[str, Any]) -> list[str]:
    """What was measured, and of which server."""
    return [
        *_table("Measured", dict(kept.get("measured") or {})),
        *_table("Server", dict(kept.get("server") or {})),
    ]


def _table(title: str, content: dict[str, Any]) -> list[str]:
    rows = [f"<h2>{escape(title)}</h2><table>"]
    for key, value in content.items():
        rows.append(f"<tr><th>{escape(key)}</th><td>{escape(_text(value))}</td></tr>")
    return [*rows, "</table>"] if content else []


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_text(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_text, value)) or "none"
    return str(value)
