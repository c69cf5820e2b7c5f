"""What an attention backend must compute, and what it must call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from sglang_contracts.suite import judge
from sglang_contracts.suite.bench import CONTEXT, LAYERS, Bench, Pass
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Script, Turn
from sglang_contracts.suite.strategies import scripts
from sglang_contracts.suite.violation import Inapplicable, describe, expect

Judge = Callable[[Bench, Pass], None]


def _extend(cell: Cell) -> Script:
    page = min(cell.page_size, 64)
    return Script((Turn("extend", ((0, page + 1), (1, 3))),), cell)


def _decode(cell: Cell) -> Script:
    page = min(cell.page_size, 64)
    start = Turn("extend", ((0, page), (1, 2), (2, page - 1 or 1)))
    return Script((start, Turn("decode", ((2, 1), (0, 1), (1, 1)))), cell)


def _prefix(cell: Cell) -> Script:
    page = cell.page_size
    shared = page * max(1, 4 // page)
    first = Turn("extend", ((0, shared + 1),))
    return Script((first, Turn("extend", ((1, 3, 0, shared), (2, 2)))), cell)


def _prefix_to_the_edge(cell: Cell) -> Script:
    """Requests whose tokens, cached and new, fill their pages to the last slot."""
    page = cell.page_size
    first = Turn("extend", ((0, 2 * page),))
    return Script((first, Turn("extend", ((1, page, 0, page), (2, page), (0, page)))), cell)


def _chunks(cell: Cell) -> Script:
    page = min(cell.page_size, 64)
    turns = [Turn("extend", ((0, n), (1, 2))) for n in (1, page, 2 * page + 1)]
    return Script(tuple(turns), cell)


def _mixed(cell: Cell) -> Script:
    page = min(cell.page_size, 64)
    first = Turn("extend", ((0, page), (1, 3)))
    return Script((first, Turn("mixed", ((2, 4), (0, 1), (1, 1)))), cell)


def _run(
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


def _modes(context: Context, *wanted: str) -> tuple[str, ...]:
    return tuple(m for m in wanted if m in context.subject.capabilities.modes)


def _compare(bench: Bench, done: Pass) -> None:
    bench.compare(done)


# Level 2: the interface.


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
    for mode, make in (("extend", _extend), ("decode", _decode), ("mixed", _mixed)):
        if mode in context.subject.capabilities.modes:
            makers.append(make)
    modes = _modes(context, "extend", "decode", "mixed")
    _run(context, (), makers, modes=modes, sharing=False)


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
    modes = _modes(context, "extend", "decode", "mixed")
    _run(context, (judge.returns,), (_extend, _decode), modes=modes)


@check(
    "attention-backend.writes-keys-once-a-layer",
    2,
    "Each layer writes its keys and values once, by set_kv_buffer, to out_cache_loc",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="A second write costs bandwidth, a missing one gives wrong text.",
)
def _writes(context: Context) -> None:
    modes = _modes(context, "extend", "decode", "mixed")
    _run(context, (judge.writes,), (_extend, _decode), modes=modes)


@check(
    "attention-backend.inputs-are-left-alone",
    2,
    "Queries, keys, values and the batch's vectors are not changed",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="The model and the scheduler go on using them.",
)
def _inputs(context: Context) -> None:
    modes = _modes(context, "extend", "decode", "mixed")
    _run(context, (judge.untouched,), (_extend, _decode), modes=modes, share=0.5)


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
    plain = [make(cell) for make in (_extend, _decode, _prefix) for cell in cells]
    context.explore(plain, scripts(cells, modes=_modes(context, "extend", "decode")), body, 0.5)


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
    plain = [make(cell) for make in (_extend, _decode, _prefix) for cell in cells]
    context.explore(plain, scripts(cells, modes=_modes(context, "extend", "decode")), body, 0.5)


# Level 3: the meaning.


@check(
    "attention-backend.prefill-equals-the-oracle",
    3,
    "Prefill without a prefix equals float64 attention",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "radix-attention/scaling"),
    why="Every answer starts from it.",
)
def _prefill_oracle(context: Context) -> None:
    _run(context, (_compare,), _extend, modes=("extend",))


@check(
    "attention-backend.decode-equals-the-oracle",
    3,
    "Decode equals float64 attention over all cached tokens",
    needs=("mode:extend", "mode:decode"),
    clauses=("attention-backend/forward_decode", "radix-attention/scaling"),
    why="Every token but the first comes from it.",
)
def _decode_oracle(context: Context) -> None:
    _run(context, (_compare,), _decode, only=("decode",), modes=("decode",), turns=5)


@check(
    "attention-backend.mixed-equals-the-oracle",
    3,
    "A batch of prefills and decodes equals float64 attention, row by row",
    needs=("mode:mixed",),
    clauses=("attention-backend/forward_extend", "forward-modes/MIXED"),
    why="Chunked prefill runs decodes in the same batch.",
)
def _mixed_oracle(context: Context) -> None:
    modes = _modes(context, "extend", "decode", "mixed")
    _run(context, (_compare,), _mixed, only=("mixed",), modes=modes)


@check(
    "attention-backend.prefix-is-attended",
    3,
    "A request on another one's cached tokens attends to all of them",
    needs=("mode:extend", "prefix-cache"),
    clauses=("attention-backend/forward_extend", "forward-batch/extend_prefix_lens"),
    why="The radix cache hands out shared prefixes for every repeated system prompt.",
)
def _prefix_oracle(context: Context) -> None:
    modes = _modes(context, "extend", "decode")
    _run(context, (_compare,), (_prefix, _prefix_to_the_edge), modes=modes, sharing=True)


@check(
    "attention-backend.chunked-equals-whole",
    3,
    "A prompt in chunks gives what it gives in one piece",
    needs=("mode:extend", "prefix-cache"),
    clauses=("attention-backend/forward_extend",),
    why="Long prompts are prefilled in chunks of --chunked-prefill-size.",
)
def _chunked(context: Context) -> None:
    import torch

    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed, looks=False)
        outs: dict[tuple[int, int, int], Any] = {}
        for turn in script.turns:
            for done in bench.run(turn):
                bench.compare(done, "the chunk's result")
                for token in range(len(done.step.loc)):
                    number, position = bench.owner(done.step, token)
                    outs[number, position, done.layer] = done.out[token]
        whole = Bench(context, script.cell, script.seed, looks=False)
        lens = {r.number: len(r.slots) for r in bench.requests.values()}
        turn = Turn("extend", tuple(sorted(lens.items())))
        from sglang_contracts.suite.oracle import TOLERANCE

        for done in whole.run(turn):
            for token in range(len(done.step.loc)):
                number, position = whole.owner(done.step, token)
                chunk = outs[number, position, done.layer]
                error = (chunk.double() - done.out[token].double()).abs().max()
                expect(
                    bool(torch.isfinite(error)) and float(error) <= TOLERANCE[script.cell.dtype],
                    f"request {number}, position {position}, layer {done.layer}: in chunks it "
                    f"differs by {float(error):.3g} from the whole prompt ({script.cell.label})",
                )
        context.exercised(script)

    cells = context.cells()
    drawn = scripts(cells, modes=("extend",), requests=3, chunks=True)
    context.explore([_chunks(cell) for cell in cells], drawn, body, 0.5)


@check(
    "attention-backend.page-edges-hold",
    3,
    "Lengths just before, on and after a page edge give the right result in every pass",
    needs=("mode:extend", "mode:decode"),
    clauses=("attention-backend/forward_decode", "forward-batch/out_cache_loc"),
    why="An off-by-one at a page edge shows in one request of sixteen.",
)
def _edges(context: Context) -> None:
    def plain(cell: Cell) -> list[Script]:
        page = min(cell.page_size, 64)
        found = []
        for length in sorted({max(1, page - 1), page, page + 1, 2 * page}):
            turns = [Turn("extend", ((0, length), (1, max(1, page - 1)), (2, page)))]
            turns += [Turn("decode", ((0, 1), (1, 1), (2, 1)))] * 3
            found.append(Script(tuple(turns), cell))
        return found

    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed)
        for turn in script.turns:
            for done in bench.run(turn):
                judge.written(bench, done)
                judge.only_own_slots(bench, done)
                bench.compare(done)
        context.exercised(script)

    context.explore([s for cell in context.cells() for s in plain(cell)], None, body)


@check(
    "attention-backend.long-requests-are-attended-whole",
    3,
    "Requests as long as the table allows are attended to from the first token to the last",
    needs=("mode:extend", "mode:decode"),
    clauses=("attention-backend/forward_decode", "req-to-token-pool/req_to_token"),
    why="A bound that holds in every short test ends a customer's long document.",
)
def _long(context: Context) -> None:
    def plain(cell: Cell) -> Script:
        page = cell.page_size
        shared = 192 // page * page or page
        turns = [Turn("extend", ((0, 257), (1, 130))), Turn("extend", ((2, 65),))]
        if context.subject.capabilities.prefix_cache:
            turns[1] = Turn("extend", ((2, 65, 0, shared), (0, CONTEXT - 257 - 2)))
        else:
            turns[0] = Turn("extend", ((0, CONTEXT - 2), (1, 130)))
        decode = Turn("decode", ((0, 1), (1, 1), (2, 1)))
        return Script((*turns, decode, decode), cell)

    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed, slots=1536)
        for turn in script.turns:
            for done in bench.run(turn):
                judge.written(bench, done)
                bench.compare(done, "the result of a long request")
        context.exercised(script)

    found: dict[int, Cell] = {}
    for cell in context.cells():
        found.setdefault(cell.page_size, cell)
    context.explore([plain(cell) for cell in found.values()], None, body)


@check(
    "attention-backend.takes-slices-of-a-fused-projection",
    3,
    "Queries, keys and values may be slices of one tensor, with rows far apart",
    clauses=("radix-attention/forward", "attention-backend/forward_extend"),
    forbids_raising=True,
    why="Models split one fused projection: a kernel that takes rows for adjacent reads nonsense.",
)
def _slices(context: Context) -> None:
    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed)
        for turn in script.turns:
            for done in bench.run(turn, fused=True):
                judge.written(bench, done)
                bench.compare(done, "the result on slices")
        context.exercised(script)

    cells = context.cells()
    plain = [make(cell) for make in (_extend, _decode, _prefix) for cell in cells]
    context.explore(plain, None, body)


@check(
    "attention-backend.batch-order-does-not-matter",
    3,
    "A request's result does not depend on its place in the batch or on its neighbours",
    needs=("mode:extend", "mode:decode"),
    clauses=("forward-batch/req_pool_indices",),
    why="The scheduler orders requests as it likes; mixed-up rows are mixed-up text.",
)
def _order(context: Context) -> None:
    def plain(cell: Cell) -> Script:
        rows = ((0, 5), (1, 2), (2, 9), (3, 1))
        turns = (
            Turn("extend", rows),
            Turn("decode", ((3, 1), (1, 1), (2, 1), (0, 1))),
            Turn("decode", ((2, 1), (0, 1))),
            Turn("decode", ((1, 1), (0, 1), (3, 1))),
        )
        return Script(turns, cell)

    _run(context, (_compare, judge.written), plain, modes=("decode",), turns=6, requests=6)


@check(
    "attention-backend.second-batch-is-its-own",
    3,
    "Metadata of one batch are not used for the next, also of the same size",
    needs=("mode:extend", "mode:decode"),
    clauses=("attention-backend/init_forward_metadata",),
    why="Metadata kept by batch size gives one request another one's cache.",
)
def _second(context: Context) -> None:
    def plain(cell: Cell) -> Script:
        turns = (
            Turn("extend", ((0, 4), (1, 7))),
            Turn("extend", ((2, 7), (3, 4))),
            Turn("decode", ((0, 1), (1, 1))),
            Turn("decode", ((2, 1), (3, 1))),
            Turn("decode", ((3, 1), (0, 1))),
            Turn("decode", ((3, 1), (0, 1))),
        )
        return Script(turns, cell)

    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed, looks=False)
        for turn in script.turns:
            for done in bench.run(turn):
                bench.compare(done, "the result of a later batch")
        context.exercised(script)

    context.explore([plain(cell) for cell in context.cells()], None, body)


@check(
    "attention-backend.foreign-slots-are-not-read",
    3,
    "What stands in slots of nobody, of others or of the padding page does not change a result",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="Old contents of the pool are other customers' prompts.",
)
def _foreign(context: Context) -> None:
    import torch

    def results(script: Script, fill: int) -> list[Any]:
        bench = Bench(context, script.cell, script.seed, looks=False)
        bench.fill(fill)
        return [done.out for turn in script.turns for done in bench.run(turn)]

    def body(script: Script) -> None:
        first, second = results(script, 1), results(script, 2)
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            turn = script.turns[index // LAYERS]
            expect(
                torch.equal(one, other),
                f"pass {index // LAYERS} ({turn.mode}), layer {index % LAYERS}: the result changes "
                f"with the contents of slots that are not the batch's ({script.cell.label})",
            )
        context.exercised(script)

    cells = context.cells()
    plain = [make(cell) for make in (_extend, _decode, _prefix) for cell in cells]
    modes = _modes(context, "extend", "decode")
    context.explore(plain, scripts(cells, modes=modes, sharing=True), body, 0.5)


@check(
    "attention-backend.key-heads-are-shared-by-neighbours",
    3,
    "With fewer key heads than query heads, neighbouring query heads share one",
    clauses=("attention-backend/forward_extend",),
    why="Swapped groups give fluent nonsense.",
)
def _groups(context: Context) -> None:
    if all(q == kv for q, kv in context.subject.capabilities.heads):
        raise Inapplicable("the plugin declares no [query, key] heads that differ")
    cells = [c for c in context.cells() if c.heads[0] != c.heads[1]]
    if not cells:
        raise Inapplicable("no cell of this profile has fewer key heads than query heads")

    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed, looks=False)
        for turn in script.turns:
            for done in bench.run(turn):
                bench.compare(done, "the result with grouped heads")
        context.exercised(script)

    plain = [make(cell) for make in (_extend, _decode) for cell in cells]
    context.explore(plain, scripts(cells, modes=_modes(context, "decode", "extend")), body, 0.3)


@check(
    "attention-backend.window-is-kept",
    3,
    "A layer with a sliding window sees exactly the keys within it",
    needs=("sliding-window",),
    clauses=("radix-attention/sliding_window_size",),
    why="Off by one, long answers drift.",
)
def _window(context: Context) -> None:
    def plain(cell: Cell) -> list[Script]:
        turns = (
            Turn("extend", ((0, 9), (1, 3))),
            Turn("decode", ((1, 1), (0, 1))),
            Turn("extend", ((0, 4), (1, 6))),
        )
        return [Script(turns, cell, window=window) for window in (1, 2, 8)]

    def body(script: Script) -> None:
        bench = Bench(context, script.cell, script.seed, script.window, looks=False)
        for turn in script.turns:
            for done in bench.run(turn):
                bench.compare(done, "the result within the window")
        context.exercised(script)

    cells = context.cells()
    drawn = scripts(
        cells, modes=_modes(context, "extend", "decode"), chunks=True, windows=(1, 3, 7, 20)
    )
    context.explore([s for cell in cells for s in plain(cell)], drawn, body, 0.5)
