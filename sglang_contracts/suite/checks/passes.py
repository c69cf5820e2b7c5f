"""Scripts that checks try on every cell, and how passes are held to judges."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from sglang_contracts.suite import judge
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.passes import Pass
from sglang_contracts.suite.script import Cell, Script, Turn
from sglang_contracts.suite.strategies import scripts

Judge = Callable[[Bench, Pass], None]


def extend(cell: Cell) -> Script:
    """One prefill, of a request beyond a page and a short one."""
    page = min(cell.page_size, 64)
    return Script((Turn("extend", ((0, page + 1), (1, 3))),), cell)


def decode(cell: Cell) -> Script:
    """A decode of three requests: a full page, a short one, one slot short of a page."""
    page = min(cell.page_size, 64)
    start = Turn("extend", ((0, page), (1, 2), (2, page - 1 or 1)))
    return Script((start, Turn("decode", ((2, 1), (0, 1), (1, 1)))), cell)


def prefix(cell: Cell) -> Script:
    """A request on another one's cached tokens, beside one without."""
    page = cell.page_size
    shared = page * max(1, 4 // page)
    first = Turn("extend", ((0, shared + 1),))
    return Script((first, Turn("extend", ((1, 3, 0, shared), (2, 2)))), cell)


def prefix_to_the_edge(cell: Cell) -> Script:
    """Requests whose tokens, cached and new, fill their pages to the last slot."""
    page = cell.page_size
    first = Turn("extend", ((0, 2 * page),))
    return Script((first, Turn("extend", ((1, page, 0, page), (2, page), (0, page)))), cell)


def chunks(cell: Cell) -> Script:
    """A request that comes in three pieces."""
    page = min(cell.page_size, 64)
    turns = [Turn("extend", ((0, n), (1, 2))) for n in (1, page, 2 * page + 1)]
    return Script(tuple(turns), cell)


def mixed(cell: Cell) -> Script:
    """A prefill and two decodes in one batch."""
    page = min(cell.page_size, 64)
    first = Turn("extend", ((0, page), (1, 3)))
    return Script((first, Turn("mixed", ((2, 4), (0, 1), (1, 1)))), cell)


def mixed_chunk(cell: Cell) -> Script:
    """A further piece of a long prompt beside decodes and a new request: what mixing is for."""
    page = min(cell.page_size, 64)
    first = Turn("extend", ((0, page), (1, page + 2)))
    return Script((first, Turn("mixed", ((1, 5), (0, 1), (2, 4)))), cell)


def play(
    context: Context,
    judges: Sequence[Judge],
    plain: Callable[[Cell], Script] | Sequence[Callable[[Cell], Script]],
    *,
    only: Sequence[str] = (),
    share: float = 1.0,
    **strategy: Any,
) -> None:
    """Play scripts and hold their passes to ``judges``.

    Args:
        context: The check's surroundings.
        judges: What each pass is held to.
        plain: Scripts of each cell that are always tried.
        only: Judge passes of these modes alone; empty: all.
        share: Share of the profile's examples.
        strategy: Passed to :func:`scripts`.
    """
    cells = context.cells()
    makers = [plain] if callable(plain) else list(plain)

    looks = any(judged in judge.ON_WHAT_CHANGED for judged in judges)

    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed, script.window, looks=looks)
        for turn in script.turns:
            for done in bench.run(turn):
                if not only or done.step.mode in only:
                    for judged in judges:
                        judged(bench, done)
        context.exercised(script)

    first = [make(cell) for make in makers for cell in cells]
    # Where a contract leaves a dtype open, the seed chooses: the simplest cell has the other, too.
    first += [dataclasses.replace(make(cells[0]), seed=1) for make in makers]
    context.explore(first, scripts(cells, **strategy), body, share)


def modes_of(context: Context, *wanted: str) -> tuple[str, ...]:
    """Those of the modes that the plugin declares."""
    return tuple(m for m in wanted if m in context.subject.capabilities.modes)


def compare(bench: Bench, done: Pass) -> None:
    """The judge that holds a pass to the oracle."""
    bench.compare(done)
