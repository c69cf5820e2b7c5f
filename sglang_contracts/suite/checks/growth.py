"""Level 4: what stays behind, on the device and on the host, and what metadata read back."""

from __future__ import annotations

import gc
import sys

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.discipline import watching
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.device import Watch, told
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import ask, expect

_ROWS = 70
_BATCHES = 1100
"""Batches of new requests after which what is kept of them is full: 77,000 requests."""
_ALLOWED = 20_000
"""Pieces of memory that as many batches again may leave behind: a third of one a request."""


@check(
    "prefill.allocates-nothing-that-stays",
    4,
    "Prefills of other lengths leave no memory on the device behind when their requests have ended",
    needs=("mode:extend",),
    clauses=("attention-backend/init_forward_metadata", "kv-pool-mha/set_kv_buffer"),
    why="What is kept for each length that was ever seen fills the card in a day.",
)
def _prefills(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        number = 0

        def served(length: int) -> None:
            nonlocal number
            bench.run(Turn("extend", ((number, length), (number + 1, 2))))
            for each in (number, number + 1):
                bench.end(each)
            number += 2

        page = min(bench.cell.page_size, 64)
        lengths = [page * pages + 3 for pages in range(5, 0, -1)] + [page - 1 or 1, 2, 1]
        for length in lengths[:2]:
            served(length)  # the longest come first: a workspace has its size by then
        held = watch.live()
        for length in lengths[2:]:
            served(length)
        growth = watch.live(held) - held
        expect(
            growth <= 0,
            f"after {len(lengths) - 2} more prefills, none longer than those before, {growth} "
            f"bytes more are held on the device, though all requests have ended "
            f"({bench.cell.label})",
        )

    watching(context, body)


@check(
    "metadata.takes-lengths-from-the-host",
    4,
    "Where core hands over the lengths on the host, too, building metadata waits for nothing",
    clauses=(
        "attention-backend/init_forward_metadata",
        "forward-batch/seq_lens_cpu",
        "forward-batch/extend_seq_lens_cpu",
    ),
    why="Each step would wait for the card to finish the last one: overlap scheduling is undone.",
)
def _lengths(context: Context) -> None:
    declared = context.subject.capabilities

    def body(bench: Bench, watch: Watch) -> None:
        turns = [Turn("extend", ((0, 5), (1, 3)))]
        if declared.prefix_cache:
            turns.append(Turn("extend", ((1, 2), (2, 4))))
        if "decode" in declared.modes:
            turns.append(Turn("decode", ((1, 1), (0, 1))))
        for turn in turns:
            step = bench.step(turn)
            watch.take()
            with context.observed():
                bench.prepare(step)
            found = watch.waits(watch.take())
            expect(
                not found,
                f"metadata of {turn.mode}: the host waits {len(found)} times for the device, and "
                f"the batch has its lengths on the host: {told(found)} ({bench.cell.label})",
            )

    watching(context, body)


@check(
    "metadata.keeps-no-more-of-each-request",
    4,
    "After 77,000 requests the host's memory grows no more with further ones",
    needs=("mode:extend", "mode:decode"),
    clauses=("attention-backend/init_forward_metadata", "forward-batch/rids"),
    why="A log or a table without a bound ends a server in its second week.",
)
def _host(context: Context) -> None:
    def body(cell: Cell) -> None:
        slots = 2 * _ROWS * cell.page_size
        bench = Bench(context, cell, looks=False, slots=slots, requests=_ROWS + 2)
        bench.run(Turn("extend", tuple((number, 1) for number in range(_ROWS))))
        batch = bench.step(Turn("decode", tuple((number, 1) for number in range(_ROWS)))).batch
        named = hasattr(batch, "rids")

        def served(first: int) -> None:
            for number in range(first, first + _BATCHES):
                if named:
                    batch.rids = [f"{number}-{row}" for row in range(_ROWS)]
                ask("init_forward_metadata", bench.backend.init_forward_metadata, batch)

        held = []
        for number in range(2):
            served(number * _BATCHES)
            gc.collect()
            held.append(sys.getallocatedblocks())
        growth = held[1] - held[0]
        expect(
            growth <= _ALLOWED,
            f"after {_BATCHES} batches of {_ROWS} new requests, as many again leave {growth} more "
            f"pieces of memory behind on the host ({cell.label})",
        )

    context.explore(context.page_cells()[:1], None, body)
