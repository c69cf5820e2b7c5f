"""Level 3: what attention must compute, whatever the batch."""

from __future__ import annotations

from typing import Any

from sglang_contracts.suite import judge
from sglang_contracts.suite.bench import Bench, longest
from sglang_contracts.suite.checks.passes import (
    chunks,
    compare,
    decode,
    extend,
    mixed,
    mixed_chunk,
    modes_of,
    play,
    prefix,
    prefix_to_the_edge,
)
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Script, Turn
from sglang_contracts.suite.strategies import scripts
from sglang_contracts.suite.violation import Inapplicable, expect
from sglang_contracts.suite.watched import LAYERS

_CROWD = 64
_LONG = 1300
"""Tokens of a long request: several workspaces and chunks of usual size."""


@check(
    "attention-backend.prefill-equals-the-oracle",
    3,
    "Prefill without a prefix equals float64 attention",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "radix-attention/scaling"),
    why="Every answer starts from it.",
)
def _prefill_oracle(context: Context) -> None:
    play(context, (compare,), extend, modes=("extend",))


@check(
    "attention-backend.decode-equals-the-oracle",
    3,
    "Decode equals float64 attention over all cached tokens",
    needs=("mode:extend", "mode:decode"),
    clauses=("attention-backend/forward_decode", "radix-attention/scaling"),
    why="Every token but the first comes from it.",
)
def _decode_oracle(context: Context) -> None:
    play(context, (compare,), decode, only=("decode",), modes=("decode",), turns=5)


@check(
    "attention-backend.mixed-equals-the-oracle",
    3,
    "A batch of prefills and decodes equals float64 attention, row by row",
    needs=("mode:mixed",),
    clauses=("attention-backend/forward_extend", "forward-modes/MIXED"),
    why="Chunked prefill runs decodes in the same batch.",
)
def _mixed_oracle(context: Context) -> None:
    modes = modes_of(context, "extend", "decode", "mixed")
    makers = [mixed, mixed_chunk] if context.subject.capabilities.prefix_cache else [mixed]
    play(context, (compare,), makers, only=("mixed",), modes=modes)


@check(
    "attention-backend.prefix-is-attended",
    3,
    "A request on another one's cached tokens attends to all of them",
    needs=("mode:extend", "prefix-cache"),
    clauses=("attention-backend/forward_extend", "forward-batch/extend_prefix_lens"),
    why="The radix cache hands out shared prefixes for every repeated system prompt.",
)
def _prefix_oracle(context: Context) -> None:
    modes = modes_of(context, "extend", "decode")

    def system_prompt(cell: Cell) -> Script:
        """Four requests on one prefix, as a system prompt makes them; then they decode together."""
        shared = cell.page_size * max(1, 4 // cell.page_size)
        rows = tuple((n, 1 + n, 0, shared) for n in range(1, 5))
        turns = [Turn("extend", ((0, shared + 1),)), Turn("extend", rows)]
        if "decode" in modes:
            turns.append(Turn("decode", tuple((n, 1) for n in (3, 1, 0, 4, 2))))
        return Script(tuple(turns), cell)

    makers = (prefix, prefix_to_the_edge, system_prompt)
    play(context, (compare,), makers, modes=modes, sharing=True)


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
                    outs[number, position, done.layer] = done.out[token].clone()
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
    context.explore([chunks(cell) for cell in cells], drawn, body, 0.5)


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
        most, first = max(_LONG, longest(cell)) - 2, max(257, page + 1)
        turns = [Turn("extend", ((0, first), (1, 130))), Turn("extend", ((2, 65),))]
        if context.subject.capabilities.prefix_cache:
            turns[1] = Turn("extend", ((2, 65, 0, shared), (0, most - first)))
        else:
            turns[0] = Turn("extend", ((0, most), (1, 130)))
        decode = Turn("decode", ((0, 1), (1, 1), (2, 1)))
        return Script((*turns, decode, decode), cell)

    def body(script: Script) -> None:
        slots = max(2 * _LONG, 8 * script.cell.page_size)
        bench = Bench(context, script.cell, script.seed, slots=slots, tokens=_LONG)
        for turn in script.turns:
            for done in bench.run(turn):
                judge.written(bench, done)
                bench.compare(done, "the result of a long request")
        context.exercised(script)

    context.explore([plain(cell) for cell in context.page_cells()], None, body)


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
    plain = [make(cell) for make in (extend, decode, prefix) for cell in cells]
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

    def equal(cell: Cell) -> Script:
        """Lengths all alike, beyond a page where pages are small: what a padded path serves."""
        turns = [Turn("extend", tuple((n, 19) for n in part)) for part in (range(2), range(2, 10))]
        turns += [Turn("decode", ((0, 1), (1, 1)))] * 2
        turns.append(Turn("decode", tuple((n, 1) for n in range(2, 10))))
        return Script(tuple(turns), cell)

    play(context, (compare, judge.written), (plain, equal), modes=("decode",), turns=6, requests=6)


@check(
    "attention-backend.large-batches-are-served",
    3,
    "Sixty-four requests in one batch get what each gets alone, in prefill and decode",
    needs=("mode:extend", "mode:decode"),
    clauses=("forward-batch/req_pool_indices", "attention-backend/init_forward_metadata"),
    why="A workspace made for thirty-two requests holds until the first busy hour.",
)
def _crowd(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, slots=_CROWD * max(8, cell.page_size), looks=False)
        for turn in (
            Turn("extend", tuple((n, 1 + n % 5) for n in range(9))),
            Turn("extend", tuple((n, 1 + n % 5) for n in range(9, _CROWD))),
            Turn("decode", tuple((n * 7 % _CROWD, 1) for n in range(_CROWD))),
        ):
            for done in bench.run(turn):
                bench.compare(done, f"the result in a batch of {len(turn.rows)}")

    context.explore(context.page_cells(), None, body)


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
        return [done.out.clone() for turn in script.turns for done in bench.run(turn)]

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
    plain = [make(cell) for make in (extend, decode, prefix) for cell in cells]
    modes = modes_of(context, "extend", "decode")
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

    plain = [make(cell) for make in (extend, decode) for cell in cells]
    context.explore(plain, scripts(cells, modes=modes_of(context, "decode", "extend")), body, 0.3)


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
        cells, modes=modes_of(context, "extend", "decode"), chunks=True, windows=(1, 3, 7, 20)
    )
    context.explore([s for cell in cells for s in plain(cell)], drawn, body, 0.5)
