"""Level 3: the sizes that serving has, eager and captured."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from sglang_contracts.suite.checks.graphs import Captured, device_of
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.large import Large
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import Inapplicable, ask
from sglang_contracts.suite.watched import LAYERS

KEYS = 40_971
"""Keys of the longest request: beyond every power of two up to 2 ** 15, and no multiple of any."""
_MIDDLE = 8_209
_CHUNK = 2_210
_PIECE = 700
"""New tokens of a request in a batch that is larger than a chunk."""
_ROWS = 256
_GRAPH = "graph-capture"
_CAPTURED = (
    "attention-backend/init_cuda_graph_state",
    "attention-backend/init_forward_metadata_out_graph",
    "attention-backend/init_forward_metadata_replay_cuda_graph",
)


def _long(context: Context, cell: Cell, device: str | None = None) -> Large:
    """A bench with a request of 40,000 cached tokens, one of 8,000 and a short one."""
    slots = KEYS + _MIDDLE + 60 * cell.page_size + 128
    large = Large(context, cell, KEYS + 40, slots, device=device, requests=24, filled=False)
    large.bench.poison()
    for number, tokens in enumerate((_MIDDLE, KEYS, 3)):
        large.hold(number, tokens)
    return large


_STEPS = (
    Turn("decode", ((0, 1), (1, 1), (2, 1))),
    Turn("decode", ((1, 1),)),
    Turn("decode", ((2, 1), (1, 1))),
)
_SHORT = 15
"""Short requests beside a long one: what is estimated from the mean is far too little there."""


@check(
    "attention-backend.forty-thousand-keys-are-attended",
    3,
    "A decode over 40,000 cached keys, beside short requests, equals float64 attention",
    needs=("mode:decode",),
    clauses=("attention-backend/forward_decode", "req-to-token-pool/req_to_token"),
    forbids_raising=True,
    why="A bound of 2,048, 8,192 or 32,768 keys holds in every short test.",
)
def _decode(context: Context) -> None:
    def body(cell: Cell) -> None:
        large = _long(context, cell)
        for turn in _STEPS:
            large.run(turn, f"a decode over up to {KEYS} keys")
        for number in range(3, 3 + _SHORT):
            large.hold(number, 2)
        rows = (*((number, 1) for number in range(3, 3 + _SHORT)), (1, 1))
        large.run(Turn("decode", rows), f"a decode of {KEYS} keys beside {_SHORT} short requests")
        declared = context.subject.capabilities
        if "extend" in declared.modes and declared.prefix_cache:
            large.run(Turn("extend", ((1, 20),)), f"a prefill on {KEYS} cached tokens")

    context.explore(_two(context, latent=True), None, body)


def _two(context: Context, latent: bool = False) -> list[Cell]:
    """The smallest and the largest page, with other dtypes; in the full profile every page.

    Args:
        context: The check's surroundings.
        latent: Also latent keys, if they are declared; alone they are tried in any case.
    """
    mixed = latent or "mha" not in context.subject.capabilities.pool_kinds
    cells = sorted(context.page_cells(latent=mixed), key=lambda cell: cell.page_size)
    if context.profile.all_cells:
        return cells
    heads = [cell for cell in cells if not cell.latent] or cells
    others = [cell for cell in cells if cell.latent][-1:]
    return list(dict.fromkeys((heads[0], heads[-1], *others)))


@check(
    "graph.forty-thousand-keys-are-attended",
    3,
    "A captured decode, replayed over 40,000 cached keys, equals float64 attention",
    needs=(_GRAPH, "mode:decode"),
    clauses=_CAPTURED,
    forbids_raising=True,
    why="A table made as wide as what was there at the capture ends a long document.",
)
def _captured(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            large = _long(context, cell, watch.device if watch is not None else None)
            ask("init_cuda_graph_state", large.bench.backend.init_cuda_graph_state, 8, 8)
            captured = Captured(large.bench, 4, watch)
            captured.capture()
            for turn in _STEPS:
                for done in captured.replay(large.bench.step(turn)):
                    large.compare(done, f"a replay over up to {KEYS} keys")

    cells = _two(context, latent=True)
    context.explore(cells, None, body)


@check(
    "attention-backend.long-prefills-equal-the-oracle",
    3,
    "Prefills beyond 2,048 tokens, alone and on a prefix of thousands, equal float64 attention",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "forward-batch/extend_prefix_lens"),
    forbids_raising=True,
    why="Prompts come in chunks of 2,048 to 16,384 tokens: what ends at the first is never seen.",
)
def _prefill(context: Context) -> None:
    whole = 8_300 if context.profile.all_cells else _CHUNK
    total = 16_800 if context.profile.all_cells else 8_400
    prefixed = context.subject.capabilities.prefix_cache

    def body(cell: Cell) -> None:
        slots = 3 * whole + _MIDDLE + 40 * cell.page_size
        most = _MIDDLE + whole + 8
        large = Large(context, cell, most, slots + total, requests=24, filled=False)
        large.bench.poison()
        what = "a prefill of thousands of tokens"
        large.run(Turn("extend", ((0, whole), (1, 3))), what)
        pieces = tuple((number, _PIECE) for number in range(3, 3 + total // _PIECE))
        large.run(Turn("extend", pieces), f"a batch of {len(pieces) * _PIECE} new tokens")
        if prefixed:
            large.hold(2, _MIDDLE // 2)
            rows = ((2, 300), (1, 5), (0, 2))
            large.run(Turn("extend", rows), "a chunk on thousands of cached tokens")
        if "decode" in context.subject.capabilities.modes:
            numbers = (0, 1, 2) if prefixed else (0, 1)
            turn = Turn("decode", tuple((number, 1) for number in numbers))
            large.run(turn, "the decode after it")

    context.explore(_two(context, latent=True), None, body)


def _many(context: Context, cell: Cell, device: str | None = None) -> Large:
    """A bench with 256 requests of one to some pages."""
    page = cell.page_size
    lens = [1 + (number * 37) % (2 * min(page, 48) + 9) for number in range(_ROWS)]
    slots = sum(-(-(n + 4) // page) * page for n in lens) + 8 * page
    most = max(lens) + 8
    large = Large(context, cell, most, slots, device=device, requests=_ROWS + 4)
    for number, tokens in enumerate(lens):
        large.hold(number, tokens)
    return large


@check(
    "attention-backend.rows-of-a-busy-hour-are-served",
    3,
    "Batches of 256 requests, in prefill on cached tokens and in decode, equal float64 attention",
    needs=("mode:extend", "mode:decode"),
    clauses=("forward-batch/req_pool_indices", "attention-backend/init_forward_metadata"),
    forbids_raising=True,
    why="--max-running-requests 256 is ordinary: a workspace of 64, 128 or 255 rows is not.",
)
def _rows(context: Context) -> None:
    def body(cell: Cell) -> None:
        large = _many(context, cell)
        everybody = [(number * 7) % _ROWS for number in range(_ROWS)]
        turn = Turn("decode", tuple((number, 1) for number in everybody))
        large.run(turn, f"a decode of {_ROWS} requests")
        if context.subject.capabilities.prefix_cache:
            rows = tuple((number, 1 + number % 2) for number in reversed(everybody))
            large.run(Turn("extend", rows), f"a prefill of {_ROWS} requests")

    context.explore(_two(context), None, body)


@check(
    "graph.sizes-of-the-release-are-captured",
    3,
    "Graphs of the sizes that core captures, up to 256 requests, replay in any order",
    needs=(_GRAPH, "mode:decode"),
    clauses=_CAPTURED,
    forbids_raising=True,
    why="Core captures 1, 2, 4, 8, 12 … 256 from the largest down, in one storage.",
)
def _sizes(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            large = _many(context, cell, watch.device if watch is not None else None)
            ask("init_cuda_graph_state", large.bench.backend.init_cuda_graph_state, _ROWS, _ROWS)
            graphs = {}
            for size in (256, 160, 24, 12, 2):
                graphs[size] = Captured(large.bench, size, watch)
                graphs[size].capture()
            for size, count in ((160, 131), (12, 12), (256, 256), (24, 17), (2, 1), (256, 200)):
                numbers = [(number * 7) % _ROWS for number in range(count)]
                step = large.bench.step(Turn("decode", tuple((number, 1) for number in numbers)))
                what = f"the replay of the graph for {size} with {count} requests"
                for done in graphs[size].replay(step):
                    large.compare(done, what)

    context.explore(_two(context)[-1:], None, body)


def _settings(context: Context, cell: Cell) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Pairs of settings of two layers, as far as the plugin declares what they need."""
    page = min(cell.page_size, 64)
    found: list[tuple[dict[str, Any], dict[str, Any]]] = [({}, {})]
    heads = cell.heads[0]
    if context.subject.capabilities.sliding_window:
        found += [
            ({"window": page + 3}, {}),
            ({}, {"window": 2 * page - 1}),
            ({"window": 1000}, {"window": page}),
        ]
    if context.subject.capabilities.sinks:
        scores = [[1.5 - 0.7 * ((head + turn) % 4) for head in range(heads)] for turn in (0, 1)]
        found += [({"sinks": scores[0]}, {"sinks": scores[1]}), ({}, {"sinks": scores[0]})]
        if context.subject.capabilities.sliding_window:
            found.append(({"sinks": scores[1], "window": page + 1}, {"sinks": scores[0]}))
    if context.subject.capabilities.logit_cap:
        found += [({"cap": 1.5}, {"cap": 3.0}), ({}, {"cap": 2.0})]
    return found


@check(
    "attention-backend.layers-keep-their-own-settings",
    3,
    "Layers with windows, sinks, scales and caps of their own, beyond a page, each keep theirs",
    needs=("mode:extend",),
    clauses=("radix-attention/sliding_window_size", "radix-attention/scaling"),
    why="Models alternate local and global layers: what is built once a batch suits one of them.",
)
def _own(context: Context) -> None:
    def body(example: tuple[Cell, tuple[dict[str, Any], dict[str, Any]]]) -> None:
        cell, settings = example
        page = cell.page_size
        long = max(3 * min(page, 64) + 5, 1100)
        large = Large(context, cell, long + 80, 2 * long + 20 * page, settings, requests=8)
        what = "a layer with settings of its own"
        for turn in _turns(context, large, long):
            large.run(turn, what)

    context.explore(_pairs(context), None, body)


def _pairs(context: Context) -> list[Any]:
    cells = _two(context)
    return [pair for cell in cells for pair in itertools.product([cell], _settings(context, cell))]


def _turns(context: Context, large: Large, long: int) -> Sequence[Turn]:
    page = min(large.cell.page_size, 64)
    turns = [Turn("extend", ((0, 2 * page + 7), (1, 3)))]
    if context.subject.capabilities.prefix_cache:
        large.hold(2, long)
        turns.append(Turn("extend", ((1, page + 2), (2, 5))))
    if "decode" in context.subject.capabilities.modes:
        turns.append(Turn("decode", ((1, 1), (0, 1))))
        if context.subject.capabilities.prefix_cache:
            turns.append(Turn("decode", ((2, 1), (1, 1))))
    return turns


@check(
    "graph.layers-keep-their-own-settings",
    3,
    "Captured layers with windows and sinks of their own each keep theirs in every replay",
    needs=(_GRAPH, "mode:decode"),
    clauses=(*_CAPTURED, "radix-attention/sliding_window_size"),
    forbids_raising=True,
    why="A captured kernel keeps what it was told at the capture, for every layer another.",
)
def _own_captured(context: Context) -> None:
    def body(example: tuple[Cell, tuple[dict[str, Any], dict[str, Any]]]) -> None:
        cell, settings = example
        long = max(3 * min(cell.page_size, 64) + 5, 1100)
        with device_of(context) as watch:
            device = watch.device if watch is not None else None
            slots = 2 * long + 20 * cell.page_size
            large = Large(context, cell, long + 80, slots, settings, device=device, requests=8)
            for number, tokens in enumerate((long, 5, cell.page_size)):
                large.hold(number, tokens)
            ask("init_cuda_graph_state", large.bench.backend.init_cuda_graph_state, 4, 4)
            captured = Captured(large.bench, 4, watch, [large.more_of(n) for n in range(LAYERS)])
            captured.capture()
            for rows in (((1, 1), (2, 1)), ((0, 1), (2, 1), (1, 1))):
                for done in captured.replay(large.bench.step(Turn("decode", rows))):
                    large.compare(done, "a captured layer with settings of its own")

    pairs = _pairs(context)
    if len(pairs) == len(_two(context)):
        raise Inapplicable("the plugin declares neither windows nor sinks nor caps")
    context.explore(pairs, None, body)


_BEYOND = 1 << 16
_MOST_BYTES = 1 << 30


def _pool_bytes(cell: Cell, slots: int) -> int:
    import torch

    width = cell.heads[1] * sum(cell.dims) * getattr(torch, cell.dtype).itemsize
    return int(LAYERS * slots * width)


@check(
    "attention-backend.slots-beyond-16-bits-are-reached",
    3,
    "Slots and pages beyond 65,535 are written, read and moved as those before",
    needs=("mode:extend",),
    clauses=("kv-pool-mha/set_kv_buffer", "forward-batch/out_cache_loc"),
    forbids_raising=True,
    why="A card has millions of slots: numbers of 16 bits hold in every small pool.",
)
def _high(context: Context) -> None:
    def body(cell: Cell) -> None:
        page = cell.page_size
        slots = _BEYOND * page + 64 * page
        if _pool_bytes(cell, slots) > _MOST_BYTES:
            slots = _BEYOND + 64 * page  # slots alone: so many pages would not fit here
        large = Large(context, cell, 400, slots, high=True, requests=8, filled=False)
        what = f"with slots near {slots}, the result"
        large.run(Turn("extend", ((0, page + 2), (1, 9))), what)
        if context.subject.capabilities.prefix_cache:
            large.run(Turn("extend", ((1, 3), (0, 2))), what)
        if "decode" in context.subject.capabilities.modes:
            large.run(Turn("decode", ((1, 1), (0, 1))), what)

    context.explore(list(context.page_cells()), None, body)
