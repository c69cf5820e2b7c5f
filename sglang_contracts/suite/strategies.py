"""Hypothesis strategies for scripts: small by nature, biased to page edges.

A script is drawn as numbers and repaired into a valid one, so that every shrink of it is valid too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sglang_contracts.suite.script import Cell, Script, Turn

LONGEST = 40
"""Most tokens of a request in one pass: beyond two pages of 16."""


def lengths(cell: Cell, most: int = LONGEST) -> Any:
    """New tokens of a request: anything small, and around page edges."""
    from hypothesis import strategies

    page = min(cell.page_size, 64)
    edges = sorted({n for n in (page - 1, page, page + 1, 2 * page) if 1 <= n <= max(most, page)})
    plain = strategies.integers(1, most)
    return strategies.one_of(plain, strategies.sampled_from(edges)) if edges else plain


def scripts(
    cells: Sequence[Cell],
    modes: Sequence[str] = ("extend", "decode"),
    turns: int = 4,
    requests: int = 4,
    sharing: bool = False,
    chunks: bool = False,
    windows: Sequence[int] = (-1,),
) -> Any:
    """Scripts that begin with a prefill.

    Args:
        cells: Drawn from, the first being the simplest.
        modes: Modes of the passes after the first.
        turns: Most passes.
        requests: Most requests.
        sharing: New requests may start on another one's cached tokens.
        chunks: Requests that have tokens may get more in an extend pass.
        windows: Sliding windows drawn from.
    """
    from hypothesis import strategies

    @strategies.composite
    def draw_script(draw: Any) -> Script:
        cell = draw(strategies.sampled_from(list(cells)))
        made: list[Turn] = []
        lens: dict[int, int] = {}
        total = draw(strategies.integers(1, turns))
        for index in range(total):
            mode = "extend" if index == 0 else draw(strategies.sampled_from(list(modes)))
            if mode == "idle":
                made.append(Turn("idle"))
                continue
            if mode == "decode":
                chosen = _subset(draw, list(lens))
                made.append(Turn("decode", tuple((number, 1) for number in chosen)))
                for number in chosen:
                    lens[number] += 1
                continue
            made.append(_prefill(draw, cell, mode, lens, requests, sharing, chunks))
        seed = draw(strategies.integers(0, 3))
        return Script(tuple(made), cell, seed, draw(strategies.sampled_from(list(windows))))

    return draw_script()


def _subset(draw: Any, numbers: list[int]) -> list[int]:
    """Some of them, at least one, in any order."""
    from hypothesis import strategies

    order = draw(strategies.permutations(sorted(numbers)))
    return list(order[: draw(strategies.integers(1, len(order)))])


def _prefill(
    draw: Any,
    cell: Cell,
    mode: str,
    lens: dict[int, int],
    requests: int,
    sharing: bool,
    chunks: bool,
) -> Turn:
    from hypothesis import strategies

    rows: list[tuple[int, ...]] = []
    before = dict(lens)
    fresh = draw(strategies.integers(1, 2)) if len(lens) < requests else 0
    for _ in range(min(fresh, requests - len(lens))):
        number, count = len(lens), draw(lengths(cell))
        pages = [(n, length // cell.page_size) for n, length in before.items()]
        donors = [(n, most) for n, most in pages if most]
        if sharing and donors and draw(strategies.booleans()):
            donor, most = draw(strategies.sampled_from(donors))
            shared = cell.page_size * draw(strategies.integers(1, most))
            rows.append((number, count, donor, shared))
            lens[number] = shared + count
        else:
            rows.append((number, count))
            lens[number] = count
    old = [number for number in before if lens[number] < 200]
    if old and (chunks or mode == "mixed" or not rows):
        for number in _subset(draw, old)[:2]:
            # A mixed batch carries decodes as rows of one token.
            count = 1 if mode == "mixed" else draw(lengths(cell, 24))
            rows.append((number, count))
            lens[number] += count
    if not rows:
        number = len(lens)
        rows.append((number, 1))
        lens[number] = 1
    order = draw(strategies.permutations(rows))
    return Turn(mode, tuple(order))
