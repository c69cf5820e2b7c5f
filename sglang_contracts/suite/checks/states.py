"""Level 3: states that serving has: hostile memory, padded and idle batches, fields left out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sglang_contracts.live.differences import symbol
from sglang_contracts.suite import judge
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.graphs import Captured, device_of, started
from sglang_contracts.suite.checks.passes import modes_of
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.passes import Pass, Step
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import Inapplicable, ask, expect
from sglang_contracts.suite.watched import LAYERS


def _passes(context: Context, cell: Cell) -> list[Turn]:
    """A prefill, one on cached tokens, decodes and a mixed batch, as far as they are declared."""
    page = min(cell.page_size, 64)
    declared = context.subject.capabilities
    turns = [Turn("extend", ((0, page + 2), (1, 3), (2, page)))]
    if declared.prefix_cache:
        turns.append(Turn("extend", ((1, page), (3, 2, 0, cell.page_size))))
    if "decode" in declared.modes:
        turns += [Turn("decode", ((2, 1), (0, 1), (1, 1))), Turn("decode", ((1, 1), (2, 1)))]
    if "mixed" in declared.modes:
        turns.append(Turn("mixed", ((0, 1), (4, 4), (1, 1))))
    return turns


@check(
    "attention-backend.free-slots-may-hold-anything",
    3,
    "NaN in free slots, in the rest of a page and on the padding page reaches no result",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="Memory comes as it was left: zero times NaN is NaN, and one answer is empty.",
)
def _nan(context: Context) -> None:
    def body(cell: Cell) -> None:
        for value in (float("nan"), float("inf")):
            bench = Bench(context, cell, looks=False, filled=False)
            bench.poison(value)
            for turn in _passes(context, cell):
                for done in bench.run(turn):
                    bench.compare(done, f"with {value} in every free slot, the result")

    context.explore(context.cells(), None, body)


@check(
    "graph.padding-may-hold-anything",
    3,
    "Garbage in padding rows and on the padding page reaches no row of a captured batch",
    needs=("graph-capture", "mode:decode"),
    clauses=("attention-backend/get_cuda_graph_seq_len_fill_value",),
    forbids_raising=True,
    why="Padding rows of a replay hold what the last batch left: nobody clears them.",
)
def _padding(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            device = watch.device if watch is not None else None
            bench = Bench(context, cell, device=device, filled=False, looks=False)
            bench.poison()
            bench.run(Turn("extend", ((0, 5), (1, 3), (2, 9))))
            ask("init_cuda_graph_state", bench.backend.init_cuda_graph_state, 8, 8)
            captured = Captured(bench, 8, watch)
            captured.capture()
            for numbers in ((0, 1, 2), (2,), (1, 0)):
                for parts in captured.inputs:
                    for part in parts:
                        part.fill_(float("nan"))
                step = bench.step(Turn("decode", tuple((number, 1) for number in numbers)))
                for done in captured.replay(step):
                    bench.compare(done, f"beside {8 - len(numbers)} padding rows, the result")

    context.explore(context.page_cells(), None, body)


_EXTRA = 40
"""Rows, or tokens, of padding: more than the pools of such a bench have rows and slots left."""


def _padded(bench: Bench, step: Step, extra: int) -> None:
    """Pad a batch as core does where data-parallel ranks run in step.

    Decode rows are padded with row 0 and the backend's fill value; a prefill gets further tokens,
    while its requests stay as they are. Slots of padding are 0.
    """
    import torch

    batch = step.batch

    def longer(name: str, value: int) -> None:
        old = getattr(batch, name, None)
        if old is not None and hasattr(old, "new_full"):
            setattr(batch, name, torch.cat([old, old.new_full((extra,), value)]))

    for name in ("input_ids", "out_cache_loc", "positions"):
        longer(name, 0)
    if step.mode == "decode":
        fill = ask("its fill value", bench.backend.get_cuda_graph_seq_len_fill_value)
        longer("req_pool_indices", 0)
        longer("seq_lens", int(fill))
        longer("seq_lens_cpu", int(fill))
        batch.seq_lens_sum += int(fill) * extra
        batch.batch_size += extra
    else:
        batch.extend_num_tokens = len(step.loc) + extra


@check(
    "attention-backend.padded-batches-are-served",
    3,
    "Batches padded as data-parallel ranks pad them give each real row its own result",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "forward-batch/out_cache_loc"),
    forbids_raising=True,
    why="With --enable-dp-attention every rank pads to the longest: rows and tokens of nobody.",
)
def _dp(context: Context) -> None:
    import torch

    base = symbol("sglang.srt.layers.attention.base_attn_backend:AttentionBackend")

    def body(cell: Cell) -> None:
        modes = modes_of(context, "extend", "decode")
        bench = Bench(context, cell, looks=False, requests=8, slots=28)
        name = "get_cuda_graph_seq_len_fill_value"
        if getattr(type(bench.backend), name, None) is getattr(base, name, None):
            raise Inapplicable(
                f"the backend does not define {name}, which core asks it to pad with: it serves no "
                "data-parallel attention"
            )
        for turn in (turn for turn in _passes(context, cell) if turn.mode in modes):
            step = bench.step(turn)
            extra = _EXTRA if step.mode == "decode" or cell.page_size == 1 else 3
            _padded(bench, step, extra)
            bench.prepare(step)
            for layer in range(LAYERS):
                parts = bench.inputs(step, layer)
                rest = [part.new_full((extra, part.shape[1]), float("nan")) for part in parts]
                given = [torch.cat(each) for each in zip(parts, rest, strict=True)]
                with bench.serving(step):
                    out = ask(
                        f"{turn.mode} of {len(step.loc)} tokens and {extra} of padding, layer "
                        f"{layer}",
                        bench.layers[layer],
                        *(part.to(bench.device) for part in given),
                        step.batch,
                    )
                expect(
                    len(out) == len(given[0]),
                    f"of {len(step.loc)} tokens and {extra} of padding, {len(out)} come back "
                    f"({turn.mode}, layer {layer}, {cell.label})",
                )
                done = Pass(step, layer, *parts, out[: len(step.loc)], given[0], [], [], [], [])
                bench.compare(done, "in a padded batch, the result")

    context.explore(context.cells(), None, body)


@check(
    "attention-backend.idle-passes-leave-nothing-behind",
    3,
    "Idle batches before and between other passes change none of their results",
    needs=("mode:idle", "mode:extend"),
    clauses=("attention-backend/forward", "forward-modes/IDLE"),
    forbids_raising=True,
    why="A rank without requests goes idle at any time, also before its first batch.",
)
def _idle(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)

        def idle() -> None:
            step = bench.step(Turn("idle"))
            bench.prepare(step)
            for layer in range(LAYERS):
                bench.attend(step, layer)

        idle()
        for turn in _passes(context, cell):
            for done in bench.run(turn):
                bench.compare(done, "after an idle batch, the result")
            idle()

    context.explore(context.page_cells(), None, body)


@check(
    "graph.idle-replays-are-served",
    3,
    "A replay of padding alone, as an idle rank does it, writes nothing and spoils nothing",
    needs=("graph-capture", "mode:decode"),
    clauses=("attention-backend/init_forward_metadata_out_graph",),
    forbids_raising=True,
    why="Ranks replay in step: one without requests replays rows of padding.",
)
def _idle_replay(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            bench, captured = started(context, cell, watch)
            outside = _idle_ways(context, bench)
            for number, rows in enumerate(
                (((0, 1), (2, 1)), ((2, 1), (1, 1), (0, 1)), ((1, 1),), ((0, 1), (1, 1)))
            ):
                if outside:
                    outside[number % len(outside)](bench.step(Turn("idle")).batch)
                before = [bench.raw(layer) for layer in range(LAYERS)]
                captured.replay(bench.step(Turn("decode")))
                for layer in range(LAYERS):
                    for was, now in zip(before[layer], bench.raw(layer), strict=True):
                        changed = (was != now).flatten(1).any(1).nonzero().flatten().tolist()
                        foreign = [slot for slot in changed if slot >= cell.page_size]
                        expect(
                            not foreign,
                            f"an idle replay changes {len(foreign)} slots; first: slot "
                            f"{min(foreign, default=0)} of layer {layer} ({cell.label})",
                        )
                for done in captured.replay(bench.step(Turn("decode", rows))):
                    bench.compare(done, "the replay after an idle one")

    context.explore(context.page_cells(), None, body)


def _idle_ways(context: Context, bench: Bench) -> list[Callable[[Any], None]]:
    """How an idle batch reaches a backend with graphs: eagerly, and through the graph runner."""
    if "idle" not in context.subject.capabilities.modes:
        return []
    backend = bench.backend
    ways: list[Callable[[Any], None]] = [
        lambda batch: ask("metadata of an idle batch", backend.init_forward_metadata, batch)
    ]
    if context.since("0.5.13"):
        doing, method = "init_forward_metadata_out_graph of an idle batch", backend
        ways.append(lambda batch: ask(doing, method.init_forward_metadata_out_graph, batch))
    return ways


_HOST = ("seq_lens_cpu", "extend_seq_lens_cpu", "extend_prefix_lens_cpu")


@check(
    "attention-backend.host-lengths-may-be-missing",
    3,
    "Without the lengths' host copies, which core may leave out, results are the same",
    needs=("mode:extend",),
    clauses=tuple(f"forward-batch/{name}" for name in _HOST),
    forbids_raising=True,
    why="Overlap scheduling and speculation make batches whose lengths the host does not know.",
)
def _host(context: Context) -> None:
    def captured(cell: Cell) -> None:
        with device_of(context) as watch:
            bench, graph = started(context, cell, watch)
            graph.host = False
            for rows in (((0, 1), (2, 1)), ((2, 1), (1, 1), (0, 1))):
                for done in graph.replay(bench.step(Turn("decode", rows))):
                    bench.compare(done, "replayed without seq_lens_cpu, the result")

    wanted = [clause for name in _HOST if (clause := context.clause(f"forward-batch/{name}"))]
    names = [clause.name for clause in wanted if clause.optional]
    if not names:
        raise Inapplicable(f"SGLang {context.release} hands over all lengths on the host")

    def body(cell: Cell) -> None:
        for missing in (names[:1], names[1:], names):
            bench = Bench(context, cell, looks=False)
            for turn in _passes(context, cell):
                step = bench.step(turn)
                for name in missing:
                    if getattr(step.batch, name, None) is not None:
                        setattr(step.batch, name, None)
                bench.prepare(step)
                for layer in range(LAYERS):
                    done = bench.attend(step, layer)
                    bench.compare(done, f"without {' and '.join(missing)}, the result")
        if context.subject.capabilities.graph_capture and "seq_lens_cpu" in names:
            captured(cell)

    context.explore(context.page_cells(), None, body)


@check(
    "attention-backend.results-are-memory-of-their-own",
    2,
    "A result is contiguous, and no view of the queries or the pool",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="Quantised layers assert it; what a model computes in place would overwrite a cache.",
)
def _alias(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        for turn in _passes(context, cell):
            for done in bench.run(turn):
                judge.own_memory(bench, done)

    context.explore(context.cells(), None, body)


@check(
    "attention-backend.threads-keep-apart",
    3,
    "Two backends, each in a thread with a pool of its own, give what each gives alone",
    needs=("mode:extend", "mode:decode"),
    clauses=("attention-backend/init_forward_metadata",),
    forbids_raising=True,
    why="Target and draft model run beside each other: what lies on the class is one for both.",
)
def _threads(context: Context) -> None:
    def body(cell: Cell) -> None:
        benches = [Bench(context, cell, seed=seed, looks=False) for seed in (0, 1)]
        turns = (
            (Turn("extend", ((0, 5), (1, 9))), Turn("decode", ((1, 1), (0, 1)))),
            (Turn("extend", ((0, 2), (1, 4), (2, 7))), Turn("decode", ((2, 1), (0, 1), (1, 1)))),
        )
        # In step, so that no scheduling of threads decides: each waits for the other between calls.
        # One call at a time, for the context that a layer finds its backend in is the process's.
        alone = threading.Lock()
        meet, failed = threading.Barrier(len(benches), timeout=30), list[BaseException]()
        found: list[list[Pass]] = [[], []]

        def run(index: int) -> None:
            bench = benches[index]
            try:
                for turn in turns[index]:
                    step = bench.step(turn)
                    meet.wait()
                    with alone:
                        bench.prepare(step)
                    for layer in range(LAYERS):
                        meet.wait()
                        with alone:
                            found[index].append(bench.attend(step, layer))
            except BaseException as error:
                failed.append(error)
                meet.abort()

        threads = [threading.Thread(target=run, args=(index,)) for index in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in failed:
            if not isinstance(error, threading.BrokenBarrierError):
                raise error
        for index, bench in enumerate(benches):
            for done in found[index]:
                bench.compare(done, f"in thread {index}, beside another backend, the result")

    context.explore(context.page_cells()[:1], None, body)
