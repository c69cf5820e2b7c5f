"""Decode inside captured graphs: captured once, replayed with other contents."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.device import Watch, told, watched
from sglang_contracts.suite.passes import Pass, Step
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import Inapplicable, Violation, ask, expect
from sglang_contracts.suite.watched import LAYERS

_CLAUSES = (
    "attention-backend/init_cuda_graph_state",
    "attention-backend/init_forward_metadata_out_graph",
    "attention-backend/init_forward_metadata_in_graph",
    "attention-backend/init_forward_metadata_capture_cuda_graph",
    "attention-backend/init_forward_metadata_replay_cuda_graph",
)


class Captured:
    """A decode batch of fixed size on static tensors, as SGLang's graph runner keeps it.

    Args:
        bench: Whose backend is captured.
        size: Requests of the captured batch.
        watch: The device; None: a CPU, where "replay" runs the layers on the same tensors again.
        more: For each layer, further keywords of its call.
    """

    def __init__(
        self,
        bench: Bench,
        size: int,
        watch: Watch | None,
        more: Sequence[Mapping[str, Any]] = ({},) * LAYERS,
    ) -> None:
        self.bench, self.size, self.watch, self.more = bench, size, watch, more
        self.host = True  # whether the host knows the lengths, too
        self.legacy = not bench.context.since("0.5.13")
        backend = bench.backend
        ask("get_cuda_graph_seq_len_fill_value", backend.get_cuda_graph_seq_len_fill_value)
        self.fill = int(backend.get_cuda_graph_seq_len_fill_value())
        expect(
            0 <= self.fill <= max(1, bench.cell.page_size),
            f"get_cuda_graph_seq_len_fill_value() gives {self.fill}: a padding row has the keys of "
            f"the padding page at most ({bench.cell.label})",
        )
        blank = bench._batch("decode", [], [], [], [])
        self.batch = blank
        for name, values in (
            ("req_pool_indices", [0] * size),
            ("seq_lens", [self.fill] * size),
            ("out_cache_loc", [0] * size),
            ("positions", [0] * size),
            ("input_ids", [0] * size),
        ):
            setattr(blank, name, bench.typed(name, values))
        blank.batch_size = size
        self._host([self.fill] * size)
        heads, (dim, value_dim) = bench.cell.heads, bench.cell.dims
        widths = (heads[0] * dim, heads[1] * dim, heads[1] * value_dim)
        import torch

        self.inputs = [
            [
                torch.zeros(size, width, dtype=bench.geometry.torch_dtype).to(bench.device)
                for width in widths
            ]
            for _ in range(LAYERS)
        ]
        self.outs: list[Any] = []
        self.graph = watch.graph() if watch is not None else None

    def _host(self, lens: list[int]) -> None:
        self.batch.seq_lens_cpu = self.bench.typed("seq_lens_cpu", lens) if self.host else None
        self.batch.seq_lens_sum = sum(lens)

    def metadata(self, capture: bool) -> None:
        """The backend's part outside the graph."""
        backend, batch = self.bench.backend, self.batch
        if not self.legacy:
            ask(
                "init_forward_metadata_out_graph",
                backend.init_forward_metadata_out_graph,
                batch,
                in_capture=capture,
            )
            return
        if capture:
            ask(
                "init_forward_metadata_capture_cuda_graph",
                backend.init_forward_metadata_capture_cuda_graph,
                self.size,
                self.size,
                batch.req_pool_indices,
                batch.seq_lens,
                None,
                batch.forward_mode,
                None,
            )
            return
        ask(
            "init_forward_metadata_replay_cuda_graph",
            backend.init_forward_metadata_replay_cuda_graph,
            self.size,
            batch.req_pool_indices,
            batch.seq_lens,
            batch.seq_lens_sum,
            None,
            batch.forward_mode,
            None,
            batch.seq_lens_cpu,
        )

    def _inside(self) -> list[Any]:
        bench = self.bench
        if not self.legacy:
            ask(
                "init_forward_metadata_in_graph",
                bench.backend.init_forward_metadata_in_graph,
                self.batch,
            )
        outs = []
        with bench.builder.differences.forward_context(bench.backend, self.batch):
            for layer in range(LAYERS):
                outs.append(
                    ask(
                        f"a captured decode, layer {layer}",
                        bench.layers[layer],
                        *self.inputs[layer],
                        self.batch,
                        **self.more[layer],
                    )
                )
        return outs

    def capture(self) -> None:
        """Run the layers on padding, as core does to warm up, then capture them."""
        self.metadata(capture=True)
        self.bench.spying = False
        self._inside()
        with self.graph.capture() if self.graph is not None else contextlib.nullcontext():
            self.outs = self._inside()
        self.bench.forget()  # a capture writes the padding page

    def load(self, step: Step) -> None:
        """Copy a real batch into the static tensors; the rest is padding."""
        bench, count = self.bench, len(step.requests)
        lens = [len(request.slots) for request in step.requests]
        with bench.context.unobserved():
            for name, values, rest in (
                ("req_pool_indices", [r.row for r in step.requests], 0),
                ("seq_lens", lens, self.fill),
                ("out_cache_loc", step.loc, 0),
                ("positions", [n - 1 for n in lens], 0),
            ):
                padded = [*values, *[rest] * (self.size - count)]
                static = getattr(self.batch, name)
                static.copy_(bench.typed(name, padded))
            for layer in range(LAYERS):
                for static, real in zip(self.inputs[layer], bench.inputs(step, layer), strict=True):
                    static[:count].copy_(real.to(bench.device))
        self._host([*lens, *[self.fill] * (self.size - count)])
        if hasattr(self.batch, "rids"):
            self.batch.rids = [f"request-{request.number}" for request in step.requests]

    def replay(self, step: Step) -> list[Pass]:
        """Replay with a real batch."""
        bench = self.bench
        before = bench.look() if bench.looks else []
        self.load(step)
        self.metadata(capture=False)
        if self.graph is not None:
            self.graph.replay()
        else:
            self.outs = self._inside()
        bench.forget()
        after = bench.look() if bench.looks else []
        count = len(step.requests)
        passes = []
        for layer in range(LAYERS):
            q, k, v = bench.inputs(step, layer)
            with bench.context.unobserved():
                out = self.outs[layer].to("cpu")[:count].clone()
            passes.append(Pass(step, layer, q, k, v, out, q, [], before, after, []))
        return passes


def addresses(value: Any, path: str = "forward_metadata", depth: int = 4) -> dict[str, int]:
    """Path → address of every tensor that can be reached from a value."""
    if hasattr(value, "data_ptr") and hasattr(value, "untyped_storage"):
        return {path: int(value.data_ptr())} if value.numel() else {}
    if depth == 0 or value is None:
        return {}
    found: dict[str, int] = {}
    if is_dataclass(value) and not isinstance(value, type):
        items = [(each.name, getattr(value, each.name)) for each in fields(value)]
    elif isinstance(value, dict):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [(str(index), item) for index, item in enumerate(value)]
    elif hasattr(value, "__dict__"):
        items = list(vars(value).items())
    else:
        return {}
    for name, item in items:
        found |= addresses(item, f"{path}.{name}", depth - 1)
    return found


@contextlib.contextmanager
def device_of(context: Context) -> Iterator[Watch | None]:
    """The simulated device where there is one, else the CPU."""
    if not context.subject.capabilities.simulated_device:
        yield None
        return
    with watched(context) as watch:
        yield watch


def started(
    context: Context, cell: Cell, watch: Watch | None, window: int = -1
) -> tuple[Bench, Captured]:
    """A bench with running requests, and a captured batch of four."""
    device = watch.device if watch is not None else None
    bench = Bench(context, cell, window=window, device=device)
    page = min(cell.page_size, 32)
    bench.run(Turn("extend", ((0, 5), (1, page), (2, 2 * page + 1), (3, 1), (4, page - 1 or 2))))
    ask("init_cuda_graph_state", bench.backend.init_cuda_graph_state, 8, 8)
    captured = Captured(bench, 4, watch)
    captured.capture()
    return bench, captured


_TURNS = (
    Turn("decode", ((0, 1), (1, 1), (2, 1), (3, 1))),
    Turn("decode", ((3, 1), (4, 1), (0, 1), (2, 1))),
    Turn("decode", ((1, 1), (2, 1), (4, 1))),
    Turn("decode", ((2, 1), (4, 1), (1, 1), (0, 1))),
)


@check(
    "graph.replay-equals-the-oracle",
    3,
    "A captured decode, replayed with other requests and lengths, equals float64 attention",
    needs=("graph-capture", "mode:decode"),
    clauses=_CLAUSES,
    forbids_raising=True,
    why="A replay that reads a stale buffer repeats another request's state.",
)
def _replay(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            bench, captured = started(context, cell, watch)
            for turn in _TURNS:
                for done in captured.replay(bench.step(turn)):
                    bench.compare(done, "the replayed result")
            step = bench.step(Turn("decode", ((0, 1), (3, 1))))
            bench.prepare(step)
            for layer in range(LAYERS):
                bench.compare(bench.attend(step, layer), "an eager pass between replays")
            for done in captured.replay(bench.step(_TURNS[1])):
                bench.compare(done, "the replay after an eager pass")
            bench.run(Turn("extend", ((5, 150),)))
            for done in captured.replay(bench.step(Turn("decode", ((0, 1), (5, 1), (2, 1))))):
                bench.compare(done, "the replay with a request longer than any at the capture")

    context.explore(context.page_cells(), None, body)


@check(
    "graph.window-is-kept",
    3,
    "A captured decode of layers with a sliding window sees exactly the keys within it",
    needs=("graph-capture", "mode:decode", "sliding-window"),
    clauses=(*_CLAUSES, "radix-attention/sliding_window_size"),
    forbids_raising=True,
    why="A captured kernel is another call: what the eager one is told may be left out there.",
)
def _window(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            bench, captured = started(context, cell, watch, window=3)
            for turn in _TURNS[:2]:
                for done in captured.replay(bench.step(turn)):
                    bench.compare(done, "the replayed result within the window")

    context.explore(context.page_cells(), None, body)


@check(
    "graph.batch-sizes-do-not-disturb-each-other",
    3,
    "Graphs captured for several batch sizes replay in any order",
    needs=("graph-capture", "mode:decode"),
    clauses=_CLAUSES,
    forbids_raising=True,
    why="All sizes share one storage: a view of the wrong length reads another size's rows.",
)
def _sizes(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            bench = Bench(context, cell, device=watch.device if watch is not None else None)
            bench.run(Turn("extend", tuple((n, 3 + 2 * n) for n in range(8))))
            ask("init_cuda_graph_state", bench.backend.init_cuda_graph_state, 8, 8)
            captured = {}
            for size in (8, 4, 1):
                captured[size] = Captured(bench, size, watch)
                captured[size].capture()
            for size, numbers in (
                (4, (0, 5, 2, 3)),
                (1, (4,)),
                (8, (5, 1, 0, 4, 2, 3)),
                (4, (1, 2, 4)),
                (8, (7, 2, 0, 4, 6, 3, 5, 1)),
                (1, (0,)),
                (4, (3, 5, 1, 0)),
            ):
                turn = Turn("decode", tuple((number, 1) for number in numbers))
                for done in captured[size].replay(bench.step(turn)):
                    bench.compare(done, f"the replay of the graph for {size}")

    context.explore(context.page_cells(), None, body)


@check(
    "graph.replay-writes-the-new-slots",
    3,
    "A replay writes keys and values to the replayed batch's slots and no others'",
    needs=("graph-capture", "mode:decode"),
    clauses=_CLAUSES,
    why="A captured slot vector would overwrite the first batch for ever.",
)
def _writes(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            bench, captured = started(context, cell, watch)
            for turn in _TURNS:
                step = bench.step(turn)
                for done in captured.replay(step):
                    _landed(bench, done)

    context.explore(context.page_cells(), None, body)


def _landed(bench: Bench, done: Pass) -> None:
    from sglang_contracts.suite import judge

    judge.written(bench, done)
    padding = set(range(bench.cell.page_size))  # padding rows of the batch write there
    own = set(done.step.loc) | padding
    for was, now in zip(done.before[done.layer], done.after[done.layer], strict=True):
        changed = {int(i) for i in (was != now).flatten(1).any(1).nonzero().flatten()}
        expect(
            not changed - own,
            f"a replay changes {len(changed - own)} slots outside its batch; first: slot "
            f"{min(changed - own, default=0)} of layer {done.layer} ({bench.cell.label})",
        )


@check(
    "graph.addresses-do-not-change",
    3,
    "Metadata of a captured batch size lie at the same addresses in capture and every replay",
    needs=("graph-capture", "mode:decode"),
    clauses=_CLAUSES,
    why="A captured graph goes on reading the old address.",
)
def _addresses(context: Context) -> None:
    def body(cell: Cell) -> None:
        with device_of(context) as watch:
            bench, captured = started(context, cell, watch)
            first = addresses(getattr(bench.backend, "forward_metadata", None))
            if not first:
                raise Inapplicable(
                    "the backend keeps no tensors in forward_metadata: there are no addresses"
                )
            for index, turn in enumerate(_TURNS):
                captured.replay(bench.step(turn))
                now = addresses(getattr(bench.backend, "forward_metadata", None))
                moved = sorted(path for path in first if now.get(path) != first[path])
                expect(
                    not moved,
                    f"in replay {index + 1}, {', '.join(moved[:4])} lie elsewhere than in the "
                    f"capture ({cell.label})",
                )

    context.explore(context.page_cells(), None, body)


@check(
    "graph.capture-neither-waits-nor-copies",
    4,
    "Inside a capture nothing synchronises and nothing is copied to or from the host",
    needs=("graph-capture", "mode:decode"),
    clauses=("attention-backend/init_forward_metadata_in_graph",),
    why="The driver ends the capture with an error.",
)
def _inside(context: Context) -> None:
    def body(cell: Cell) -> None:
        with watched(context) as watch:
            bench = Bench(context, cell, device=watch.device)
            bench.run(Turn("extend", ((0, 5), (1, 3))))
            ask("init_cuda_graph_state", bench.backend.init_cuda_graph_state, 4, 4)
            captured = Captured(bench, 2, watch)
            captured.metadata(capture=True)
            bench.spying = False
            watch.take()
            with context.observed():
                captured._inside()
            events = watch.take()
            bad = [*watch.transfers(events), *watch.waits(events)]
            if bad:
                raise Violation(f"inside a capture: {told(bad)} ({cell.label})")

    context.explore(context.page_cells(), None, body)
