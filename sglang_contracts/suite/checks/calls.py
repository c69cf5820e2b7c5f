"""Level 2: what an attention backend must call, give back and leave alone."""

from __future__ import annotations

from collections.abc import Callable

from sglang_contracts.suite import judge
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.passes import (
    decode,
    extend,
    mixed,
    modes_of,
    play,
    prefix,
)
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Script, Turn
from sglang_contracts.suite.strategies import scripts
from sglang_contracts.suite.violation import describe, expect
from sglang_contracts.suite.watched import LAYERS


@check(
    "attention-backend.serves-every-declared-mode",
    2,
    "Every forward mode that the plugin declares is served, for every declared dtype and page size",
    clauses=("attention-backend/init_forward_metadata",),
    forbids_raising=True,
    why="A field that this release no longer has raises in the first forward pass.",
)
def _serves(context: Context) -> None:
    makers: list[Callable[[Cell], Script]] = []
    for mode, make in (("extend", extend), ("decode", decode), ("mixed", mixed)):
        if mode in context.subject.capabilities.modes:
            makers.append(make)
    modes = modes_of(context, "extend", "decode", "mixed")
    play(context, (), makers, modes=modes, sharing=False)


@check(
    "attention-backend.serves-an-idle-batch",
    2,
    "A batch without requests is prepared and gives an empty result",
    needs=("mode:idle",),
    clauses=("attention-backend/forward", "forward-modes/IDLE"),
    forbids_raising=True,
    why="A data-parallel rank with nothing to do takes part in every pass.",
)
def _idle(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        bench.run(Turn("extend", ((0, 3),)))
        step = bench.step(Turn("idle"))
        bench.prepare(step)
        for layer in range(LAYERS):
            done = bench.attend(step, layer)
            judge.only_own_slots(bench, done)
            expect(
                done.out is None or done.out.numel() == 0,
                f"an idle batch gives {describe(done.out)}, not an empty result",
            )
        context.exercised(Script((Turn("idle"),), cell))

    context.explore(context.cells(), None, body)


@check(
    "attention-backend.result-has-contracted-shape",
    2,
    "The result has the dtype of the queries, shape [T, Hq * Dv] and their device",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="The next matrix product takes the result as it is.",
)
def _shape(context: Context) -> None:
    modes = modes_of(context, "extend", "decode", "mixed")
    play(context, (judge.returns,), (extend, decode), modes=modes)


@check(
    "attention-backend.writes-keys-once-a-layer",
    2,
    "Each layer writes its keys and values once, by set_kv_buffer, to out_cache_loc",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="A second write costs bandwidth, a missing one gives wrong text.",
)
def _writes(context: Context) -> None:
    modes = modes_of(context, "extend", "decode", "mixed")
    play(context, (judge.writes,), (extend, decode), modes=modes)


@check(
    "attention-backend.inputs-are-left-alone",
    2,
    "Queries, keys, values and the batch's vectors are not changed",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="The model and the scheduler go on using them.",
)
def _inputs(context: Context) -> None:
    modes = modes_of(context, "extend", "decode", "mixed")
    play(context, (judge.untouched,), (extend, decode), modes=modes, share=0.5)


@check(
    "attention-backend.save-kv-cache-is-obeyed",
    2,
    "With save_kv_cache=False nothing is written, and the result is the same",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="Where a fused kernel has written the cache already, a second write may clobber it.",
)
def _unsaved(context: Context) -> None:
    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed)
        for turn in script.turns:
            for done in bench.run(turn, save=False):
                judge.writes(bench, done, saving=False)
                judge.only_own_slots(bench, done, saving=False)
                bench.compare(done, "the result without saving")
        context.exercised(script)

    cells = context.cells()
    plain = [make(cell) for make in (extend, decode, prefix) for cell in cells]
    context.explore(plain, scripts(cells, modes=modes_of(context, "extend", "decode")), body, 0.5)


@check(
    "attention-backend.serves-shared-keys",
    2,
    "A layer that is given no keys (k and v are None) attends to what the cache holds",
    needs=("shared-keys",),
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    forbids_raising=True,
    why="Models that share a cache between layers pass None for all layers but the first.",
)
def _shared_keys(context: Context) -> None:
    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed)
        for turn in script.turns:
            for done in bench.run(turn, keys=False):
                judge.writes(bench, done, saving=False)
                judge.only_own_slots(bench, done, saving=False)
                bench.compare(done, "the result on shared keys")
        context.exercised(script)

    cells = context.cells()
    plain = [make(cell) for make in (extend, decode, prefix) for cell in cells]
    context.explore(plain, scripts(cells, modes=modes_of(context, "extend", "decode")), body, 0.5)
