"""Plots as SVG: points, a line of medians, and a mark where something was found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import msgspec

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 34, 44
MOST = 600
"""Points drawn: more are thinned."""


class Plot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Measurements over something."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    line_x: tuple[float, ...] = ()
    """A second series, drawn as a line: medians of windows."""
    line_y: tuple[float, ...] = ()
    mark: float | None = None
    """Where on the x axis something was found."""
    note: str = ""
    """What was found there."""


def svg(plot: Plot) -> str:
    """The plot, self-contained, in the colours of the page around it."""
    xs, ys = [*plot.x, *plot.line_x], [*plot.y, *plot.line_y]
    if not xs:
        return ""
    x_ticks, y_ticks = _ticks(min(xs), max(xs)), _ticks(min(0.0, *ys), max(ys))
    low_x, high_x = min(*xs, x_ticks[0]), max(*xs, x_ticks[-1])
    low_y, high_y = y_ticks[0], max(*ys, y_ticks[-1])

    def across(value: float) -> float:
        part = (value - low_x) / ((high_x - low_x) or 1)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        part = (value - low_y) / ((high_y - low_y) or 1)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(plot.title)}" font-family="system-ui, sans-serif" font-size="12" '
        'fill="currentColor">',
        f'<text x="{LEFT}" y="18" font-weight="bold">{escape(plot.title)}</text>',
    ]
    for value in x_ticks:
        parts.append(
            f'<text x="{across(value):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
            f"{value:g}</text>"
        )
    for value in y_ticks:
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(value):.1f}" y2="{up(value):.1f}" '
            'stroke="currentColor" stroke-opacity="0.15"/>'
            f'<text x="{LEFT - 6}" y="{up(value) + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
    every = -(-len(plot.x) // MOST) if plot.x else 1
    for x, y in list(zip(plot.x, plot.y, strict=True))[::every]:
        parts.append(f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="1.6" fill-opacity="0.35"/>')
    if plot.line_x:
        points = " ".join(
            f"{across(x):.1f},{up(y):.1f}" for x, y in zip(plot.line_x, plot.line_y, strict=True)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="#1f77b4" stroke-width="2"/>')
    if plot.mark is not None:
        at = across(plot.mark)
        parts.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" '
            'stroke="#c62828" stroke-dasharray="4 3"/>'
            f'<text x="{min(at + 4, WIDTH - 190):.1f}" y="{TOP + 10}" fill="#c62828">'
            f"{escape(plot.note)}</text>"
        )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts += [
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(plot.x_label)}</text>",
        f'<text x="14" y="{middle:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 14 {middle:.1f})">{escape(plot.y_label)}</text>',
        "</svg>",
    ]
    return "".join(parts)


def _ticks(low: float, high: float, about: int = 5) -> Sequence[float]:
    """Round numbers from at most ``low`` to at least ``high``."""
    span = (high - low) or abs(high) or 1.0
    raw = span / about
    size = 10.0 ** math.floor(math.log10(raw))
    size *= next(factor for factor in (1, 2, 5, 10) if size * factor >= raw)
    first, last = int(low // size), int(-(-high // size))
    return [round(size * index, 12) for index in range(first, last + 1)]
