"""Drives a backend through passes, and watches the pool past it.

The bench hands out slots itself (scattered pages, shuffled rows, never page 0), writes the request
table, makes the ``ForwardBatch`` and calls the real ``RadixAttention``, as SGLang's scheduler and
models do. Buffers are read by raw index through the declared layout, never through the pool's own
methods: what is under test does not vouch for itself.
"""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sglang_contracts.live.build import Geometry
from sglang_contracts.suite import fields, oracle
from sglang_contracts.suite.passes import Pass, Request, Step
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.served_pool import cached, fill_request, make_pool
from sglang_contracts.suite.violation import Inapplicable, ask, describe, expect
from sglang_contracts.suite.watched import LAYERS, Watched

if TYPE_CHECKING:
    from sglang_contracts.suite.context import Context

SLOTS = 512
REQUESTS = 72
CONTEXT = 384


def longest(cell: Cell) -> int:
    """Tokens that a request can have: several pages, of whatever size."""
    return max(CONTEXT, 4 * cell.page_size)


def _whole_pages(slots: int, page_size: int) -> int:
    """``slots``, or a little more: whole pages, and enough of them for a few requests."""
    return max(8, -(-slots // page_size)) * page_size


def _extremes_last(numbers: list[int]) -> list[int]:
    """The largest and the smallest are taken first: edges are where displacement shows."""
    edges = (max(numbers), min(numbers))
    return [*(n for n in numbers if n not in edges), *reversed(edges)]


@functools.cache
def _orders(seed: int, rows: tuple[int, ...], pages: int) -> tuple[list[int], list[int]]:
    """Rows, and pages from 1 on, shuffled: worked out once, for many benches. Copy them."""
    draw = random.Random(seed)  # noqa: S311 - test data
    shuffled = list(rows), list(range(1, pages + 1))
    for numbers in shuffled:
        draw.shuffle(numbers)
    return _extremes_last(shuffled[0]), _extremes_last(shuffled[1])


class Bench(Watched):
    """Pools, layers and one backend for a cell.

    Args:
        context: The running check's surroundings.
        cell: Dtype, page size, heads.
        seed: Of data, slot order and old contents.
        window: Sliding window of the layers; -1: none.
        device: torch device; None: ``cpu``.
        slots: Slots of the pool; 0: enough for what scripts do.
        looks: Whether passes note what becomes of the pool, the batch and the inputs; it costs
            copies of all of them.
        loud: Factor on queries and keys, which have unit variance without it.
        layer: Further keywords of the attention layers.
        first: Number of the first layer: more than 0 on a later pipeline rank.
        tokens: Most tokens of a request, where that is more than :func:`longest`.
        need_sort: What the allocator is told: core says so for disaggregated prefill and decode.
        requests: Rows of the request pool.
        filled: Whether the pool starts full of old contents; a large one is left as it was made.
    """

    oracle: Mapping[str, Any] = MappingProxyType({})
    """Further keywords of the oracle, for layers that are not plain causal attention."""

    def __init__(
        self,
        context: Context,
        cell: Cell,
        seed: int = 0,
        window: int = -1,
        device: str | None = None,
        slots: int = 0,
        looks: bool = True,
        loud: float = 1.0,
        layer: Mapping[str, Any] = MappingProxyType({}),
        first: int = 0,
        tokens: int = 0,
        need_sort: bool = False,
        requests: int = REQUESTS,
        filled: bool = True,
    ) -> None:
        self.cell, self.window = cell, window
        self.looks, self.loud, self._layer_options = looks, loud, layer
        self.first = first
        self.device = device or "cpu"
        builder = self.builder = context.builder
        subject = context.subject
        if subject.make_backend is None:
            raise Inapplicable(
                "the plugin names no attention backend: backend = 'module:Class' in "
                "[tool.sglang-contracts.capabilities] does"
            )
        dim, value_dim = cell.dims
        self.geometry = Geometry(
            num_heads=cell.heads[0],
            num_kv_heads=cell.heads[1],
            head_dim=dim,
            v_head_dim=None if value_dim == dim else value_dim,
            num_layers=LAYERS,
            dtype=cell.dtype,
            page_size=cell.page_size,
            size=_whole_pages(slots or max(SLOTS, 20 * cell.page_size), cell.page_size),
            max_requests=requests,
            max_context=max(longest(cell), tokens),
            device=self.device,
        )
        self.request_pool = builder.request_pool(self.geometry)
        pool = ask(
            f"making the key/value pool for {cell.label}",
            make_pool,
            *(builder, self.geometry, cell, subject, first),
        )
        super().__init__(context, cell, seed, pool)
        self.scales = [(0.7 + 0.5 * layer) * dim**-0.5 for layer in range(LAYERS)]
        self.layers = [self._layer(index) for index in range(LAYERS)]
        made = builder.allocator
        if subject.allocator is not None:  # the plugin's own: what it raises is the plugin's, too
            made = functools.partial(ask, f"making the allocator for {cell.label}", made)
        stored = cached(self.geometry, cell)
        self.allocator = made(stored, self.pool, subject.allocator, need_sort)
        self.runner = builder.runner(
            self.geometry,
            self.request_pool,
            self.pool,
            token_to_kv_pool_allocator=self.allocator,
            kv_cache_dtype=stored.torch_dtype,
        )
        self.backend = ask("making the attention backend", subject.make_backend, self.runner)
        self.runner.attn_backend = self.backend
        rows = tuple(builder.differences.alloc_rows(self.request_pool, requests))
        rows_left, pages_left = _orders(seed, rows, self.geometry.size // cell.page_size)
        self._rows, self.pages_left = list(rows_left), list(pages_left)
        self.requests: dict[int, Request] = {}
        if filled:
            self.fill()

    # Making things.

    def _layer(self, index: int) -> Any:
        more: dict[str, Any] = {"scaling": self.scales[index], **self._layer_options}
        if self.window >= 0:
            more["sliding_window_size"] = self.window
        return self.builder.layer(self.geometry, self.first + index, **more)

    # Batches.

    def request(self, number: int, share: int | None = None, length: int = 0) -> Request:
        """A new request, on the first ``length`` cached tokens of request ``share`` if given."""
        made = Request(number, self._rows.pop())
        fill_request(made, self.cell, self.geometry, self.seed, self.loud)
        if share is not None and length:
            donor = self.requests[share]
            made.slots, made.shared = donor.slots[:length], length
            for layer in range(LAYERS):
                for mine, theirs in ((made.k, donor.k), (made.v, donor.v)):
                    mine[layer] = mine[layer].clone()
                    mine[layer][:length] = theirs[layer][:length]
            self.write_row(made, 0)
        self.requests[number] = made
        return made

    def write_row(self, request: Request, start: int) -> None:
        """Write a request's slots from position ``start`` on to its row of the request table."""
        values = self.tensor(request.slots[start:], "int32")
        self.request_pool.write((request.row, slice(start, len(request.slots))), values)

    def take(self, request: Request, count: int) -> list[int]:
        """Slots for new tokens: the rest of the last page, then fresh pages."""
        size, taken = self.cell.page_size, []
        for _ in range(count):
            inside = len(request.slots) % size
            slot = request.slots[-1] + 1 if inside else self.pages_left.pop() * size
            request.slots.append(slot)
            taken.append(slot)
        return taken

    def typed(self, name: str, values: list[int]) -> Any:
        """A vector of the batch with the dtype and on the device that its contract states."""
        return fields.typed(self.context.release, name, values, self.seed, self.device)

    def tensor(self, values: Sequence[float], dtype: str) -> Any:
        """A tensor on the bench's device."""
        import torch

        return torch.tensor(list(values), dtype=getattr(torch, dtype)).to(self.device)

    def end(self, number: int) -> None:
        """A request is over: its own pages go to whoever comes next."""
        request = self.requests.pop(number)
        others = {slot // self.cell.page_size for r in self.requests.values() for slot in r.slots}
        own = {slot // self.cell.page_size for slot in request.slots}
        self.pages_left += sorted(own - others)
        self._rows.append(request.row)

    def step(self, turn: Turn) -> Step:
        """Slots, request table and ``ForwardBatch`` for a turn."""
        requests, starts, counts, loc = [], [], [], []
        for row in turn.rows:
            number, count = row[0], row[1]
            request = self.requests.get(number)
            if request is None:
                request = self.request(number, *row[2:4])
            starts.append(len(request.slots))
            counts.append(count)
            requests.append(request)
            loc.extend(self.take(request, count))
            self.write_row(request, starts[-1])
        return Step(
            turn.mode,
            self._batch(turn.mode, requests, starts, counts, loc),
            requests,
            starts,
            counts,
            loc,
        )

    def _batch(
        self,
        mode: str,
        requests: list[Request],
        starts: list[int],
        counts: list[int],
        loc: list[int],
    ) -> Any:
        typed = self.typed
        lens = [len(request.slots) for request in requests]
        positions = [
            position
            for start, count in zip(starts, counts, strict=True)
            for position in range(start, start + count)
        ]
        made: dict[str, Any] = {
            "forward_mode": self.builder.mode(mode),
            "batch_size": len(requests),
            "input_ids": typed("input_ids", [0] * len(loc)),
            "req_pool_indices": typed("req_pool_indices", [r.row for r in requests]),
            "seq_lens": typed("seq_lens", lens),
            "seq_lens_cpu": typed("seq_lens_cpu", lens),
            "orig_seq_lens": typed("orig_seq_lens", lens),
            "seq_lens_sum": sum(lens),
            "out_cache_loc": typed("out_cache_loc", loc),
            "positions": typed("positions", positions),
            "rids": [f"request-{request.number}" for request in requests],
            "req_to_token_pool": self.request_pool,
            "token_to_kv_pool": self.pool,
            "attn_backend": self.backend,
        }
        if mode in ("extend", "mixed"):
            made |= {
                "extend_num_tokens": sum(counts),
                "extend_seq_lens": typed("extend_seq_lens", counts),
                "extend_prefix_lens": typed("extend_prefix_lens", starts),
                "extend_start_loc": typed(
                    "extend_start_loc", [sum(counts[:i]) for i in range(len(counts))]
                ),
                "extend_seq_lens_cpu": list(counts),
                "extend_prefix_lens_cpu": list(starts),
                "extend_logprob_start_lens_cpu": [0] * len(counts),
            }
        return self.builder.batch(**made)

    # Running them.

    def prepare(self, step: Step) -> None:
        """Have the backend build its metadata, once a batch."""
        ask(
            f"init_forward_metadata for {step.mode}, {len(step.requests)} requests",
            self.backend.init_forward_metadata,
            step.batch,
        )

    def inputs(self, step: Step, layer: int) -> tuple[Any, Any, Any]:
        """Queries, keys and values of the new tokens, ``[T, heads * dim]`` on the host."""
        import torch

        parts = []
        for name in ("q", "k", "v"):
            rows = [
                getattr(request, name)[layer][start : start + count]
                for request, start, count in zip(
                    step.requests, step.starts, step.counts, strict=True
                )
            ]
            if rows:
                parts.append(torch.cat(rows).flatten(1))
            else:
                heads = self.cell.heads[0 if name == "q" else 1]
                width = heads * self.cell.dims[1 if name == "v" else 0]
                parts.append(torch.zeros(0, width, dtype=self.geometry.torch_dtype))
        return parts[0], parts[1], parts[2]

    def store(self, step: Step, layer: int) -> None:
        """Write a step's keys and values to their slots by raw index, past the backend."""
        if not step.loc:
            return
        _, k, v = self.inputs(step, layer)
        heads = self.cell.heads[1]
        self.put(
            layer, step.loc, k.view(len(step.loc), heads, -1), v.view(len(step.loc), heads, -1)
        )

    @contextlib.contextmanager
    def serving(self, step: Step) -> Iterator[None]:
        """Within it a layer calls this backend for the step's batch."""
        forward_context = self.builder.differences.forward_context(self.backend, step.batch)
        with self.one_rank(), forward_context:
            yield

    def attend(
        self,
        step: Step,
        layer: int,
        save: bool = True,
        keys: bool = True,
        fused: bool = False,
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> Pass:
        """Run one layer of a prepared step.

        Args:
            step: The step.
            layer: Which layer.
            save: What ``save_kv_cache`` says; with False the cache is filled by raw index first.
            keys: Whether keys and values are given; without them likewise.
            fused: Give slices of one tensor, as a fused projection does: rows are far apart.
            more: Further keywords of the layer's call.
        """
        import torch

        q, k, v = self.inputs(step, layer)
        given = tuple(part.clone().to(self.device) for part in (q, k, v))
        if fused:
            whole = torch.cat(given, 1)
            given = whole.split([part.shape[1] for part in given], 1)
        if not save or not keys:
            self.store(step, layer)
        before = self.look() if self.looks else []
        kept = self._snapshot(step.batch) if self.looks else {}
        self.writes.clear()
        options: dict[str, Any] = dict(more) if save else {**more, "save_kv_cache": False}
        with self.serving(step), self.context.observed():
            out = ask(
                f"{step.mode} of {len(step.loc)} tokens in layer {layer} ({self.cell.label})",
                self.layers[layer],
                given[0],
                given[1] if keys else None,
                given[2] if keys else None,
                step.batch,
                **options,
            )
        touched = [name for name, value in kept.items() if not self._same(step, name, value)]
        self.forget()
        after = self.look() if self.looks else []
        if self.looks:
            with self.context.unobserved():
                for name, was, now in zip("qkv", (q, k, v), given, strict=True):
                    if not torch.equal(now.to("cpu"), was):
                        touched.append(name)
        return Pass(
            step,
            layer,
            q,
            k,
            v,
            out,
            given[0],
            list(self.writes),
            before,
            after,
            touched,
        )

    def _snapshot(self, batch: Any) -> dict[str, Any]:
        with self.context.unobserved():
            return {
                name: value.to("cpu", copy=True)
                for name, value in vars(batch).items()
                if hasattr(value, "dtype") and hasattr(value, "untyped_storage")
            }

    def _same(self, step: Step, name: str, value: Any) -> bool:
        import torch

        with self.context.unobserved():
            now = getattr(step.batch, name, None)
            return now is not None and torch.equal(now.to("cpu"), value)

    def run(
        self, turn: Turn, save: bool = True, keys: bool = True, fused: bool = False
    ) -> list[Pass]:
        """One turn through all layers; the arguments are :meth:`attend`'s."""
        step = self.step(turn)
        self.prepare(step)
        return [self.attend(step, layer, save, keys, fused) for layer in range(LAYERS)]

    # What must come out.

    def expected(self, step: Step, layer: int) -> Any:
        """float64 ``[T, Hq * Dv]`` from the oracle."""
        import numpy

        parts = []
        for request, start, count in zip(step.requests, step.starts, step.counts, strict=True):
            end = start + count
            out = oracle.attention(
                request.q[layer][start:end].double().numpy(),
                request.k[layer][:end].double().numpy(),
                request.v[layer][:end].double().numpy(),
                self.scales[layer],
                self.window,
                **self.oracle,
            )
            parts.append(out.reshape(count, -1))
        width = self.cell.heads[0] * self.cell.dims[1]
        return numpy.concatenate(parts) if parts else numpy.empty((0, width))

    def compare(self, done: Pass, what: str = "the output") -> None:
        """Hold a pass's output to the oracle.

        Raises:
            Violation: Shape, finiteness or values are wrong.
        """
        import numpy

        wanted = self.expected(done.step, done.layer)
        expect(
            tuple(done.out.shape) == wanted.shape,
            f"{what} is {describe(done.out)}, expected shape {list(wanted.shape)} "
            f"({done.step.mode}, layer {done.layer}, {self.cell.label})",
        )
        with self.context.unobserved():
            found = done.out.detach().to("cpu").double().numpy()
        expect(
            bool(numpy.isfinite(found).all()),
            f"{what} is not finite in {int((~numpy.isfinite(found)).sum())} of {found.size} places "
            f"({done.step.mode}, layer {done.layer}, {self.cell.label})",
        )
        if not wanted.size:
            return
        error, allowed = numpy.abs(found - wanted), oracle.allowed(wanted, self.cell.dtype)
        over = error / allowed
        if over.max() <= 1:
            return
        token, place = (int(each) for each in numpy.unravel_index(over.argmax(), over.shape))
        number, position = self.owner(done.step, token)
        wrong = int((over.max(axis=1) > 1).sum())
        expect(
            False,
            f"{what} differs from the float64 oracle by {error[token, place]:.3g} (allowed "
            f"{allowed[token, 0]:.1g}) in "
            f"{wrong} of {len(error)} tokens; worst: request {number}, position {position}, query "
            f"head {place // self.cell.dims[1]}, layer {done.layer} ({done.step.mode}, "
            f"{self.cell.label})",
        )

    def owner(self, step: Step, token: int) -> tuple[int, int]:
        """Request number and position of a row of the batch."""
        for request, start, count in zip(step.requests, step.starts, step.counts, strict=True):
            if token < count:
                return request.number, start + token
            token -= count
        return -1, token
