"""Colour and line breaking for text: small, because ``rich`` would double a command's start."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from sglang_contracts.verify.findings.finding import Severity, Verdict

_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "blue": 34, "cyan": 36}

SEVERITY_STYLE: Mapping[Severity, tuple[str, ...]] = {
    Severity.ERROR: ("red", "bold"),
    Severity.WARNING: ("yellow", "bold"),
    Severity.NOTE: ("blue",),
}
VERDICT_STYLE: Mapping[Verdict, tuple[str, ...]] = {
    Verdict.BROKEN: ("red",),
    Verdict.COMPATIBLE: ("green",),
    Verdict.UNKNOWN: ("yellow",),
}


class Paint:
    """Wraps text in ANSI codes, or leaves it alone."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *styles: str) -> str:
        """``text`` in those styles (``red``, ``bold``, …)."""
        if not self.color or not styles:
            return text
        codes = ";".join(str(_CODES[style]) for style in styles)
        return f"\x1b[{codes}m{text}\x1b[0m"


def wrapped(text: str, width: int, indent: str) -> list[str]:
    """``text`` broken at spaces to ``width`` columns, each line indented; words stay whole."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [indent.rstrip()]


def places(files: Mapping[str, Sequence[int]], width: int, indent: str) -> list[str]:
    """``file:line,line,line``, one file a line where it fits, broken after a comma where not."""
    lines: list[str] = []
    for file, numbers in files.items():
        current = f"{indent}{file}:"
        hanging = " " * min(len(current), width // 2)
        for position, number in enumerate(numbers):
            piece = f"{number}," if position < len(numbers) - 1 else str(number)
            if len(current) + len(piece) > width and current.strip():
                lines.append(current)
                current = hanging
            current += piece
        lines.append(current)
    return lines


def table(rows: Iterable[Sequence[str]], gap: str = "  ") -> list[str]:
    """Rows as left-aligned columns, the last one ragged."""
    rows = [list(row) for row in rows]
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def plural(count: int, word: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
