"""The text of ``uses``: upstream modules, and below each what is used of it and where."""

from __future__ import annotations

from typing import Any

from sglang_contracts.report.options import Options
from sglang_contracts.report.style import Paint, places, plural
from sglang_contracts.report.text import note_lines
from sglang_contracts.report.words import module_of, short
from sglang_contracts.verify.findings.finding import Report


def grouped(report: Report) -> dict[str, list[dict[str, Any]]]:
    """Upstream module → the uses of it; flags and variables under a heading of their own."""
    groups: dict[str, list[dict[str, Any]]] = {}
    uses = report.facts.get("uses")
    for use in uses if isinstance(uses, list) else []:
        symbol = str(use["symbol"])
        heading = module_of(symbol) or (
            "(flags)" if symbol.startswith("flag:") else "(environment variables)"
        )
        groups.setdefault(str(use.get("module") or heading), []).append(use)
    return dict(sorted(groups.items()))


def marks(use: dict[str, Any]) -> str:
    """The role and what is special about a use: ``call, guarded``."""
    words = [str(use.get("role", "use"))]
    words += [mark for key, mark in _MARKS.items() if use.get(key)]
    return ", ".join(words)


_MARKS = {"guarded": "guarded", "by_name": "by name alone", "missing": "not in this release"}


def text(report: Report, options: Options) -> str:
    """The page."""
    paint = Paint(options.color)
    lines: list[str] = []
    groups = grouped(report)
    for module, uses in groups.items():
        lines.append(paint(module, "bold"))
        for use in uses:
            name = short(str(use["symbol"])) if ":" in str(use["symbol"]) else "(the module)"
            head = f"  {name}  {paint(f'[{marks(use)}]', 'dim')}"
            plain = len(f"  {name}  [{marks(use)}]")
            files: dict[str, list[int]] = {}
            for place in use.get("locations", ()):
                numbers = files.setdefault(str(place["file"]), [])
                if place["line"] not in numbers:
                    numbers.append(place["line"])
            where = [] if options.quiet else places(files, options.width, "      ")
            if len(where) == 1 and plain + len(where[0]) - 4 <= options.width:
                lines.append(f"{head}  {where[0].strip()}")
            else:
                lines += [head, *where]
    lines += note_lines(report, options)
    total = sum(len(uses) for uses in groups.values())
    lines.append(f"{plural(total, 'symbol')} of {plural(len(groups), 'module')}")
    return "\n".join(lines)


def markdown(report: Report, options: Options) -> str:
    """The page as Markdown."""
    from sglang_contracts.report.markdown import code, notes

    lines = ["## What it relies on", ""]
    for module, uses in grouped(report).items():
        lines += [f"### {code(module)}", ""]
        for use in uses:
            name = short(str(use["symbol"])) if ":" in str(use["symbol"]) else "(the module)"
            where = ", ".join(f"{p['file']}:{p['line']}" for p in use.get("locations", ()))
            lines.append(f"- {code(name)} ({marks(use)}): {code(where)}")
        lines.append("")
    return "\n".join([*lines, *notes(report)])
