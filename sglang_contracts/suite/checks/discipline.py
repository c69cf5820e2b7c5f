"""Level 4: the way of keys and values, on a device that records what happens silently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.device import Watch, told, watched
from sglang_contracts.suite.judge import clause_of
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import Inapplicable, ask, expect
from sglang_contracts.suite.watched import LAYERS


def turns_of(context: Context, cell: Cell) -> list[Turn]:
    """Passes of each kind that the plugin declares, after one another."""
    page = min(cell.page_size, 32)
    turns = [Turn("extend", ((0, 5), (1, page + 1), (2, 2)))]
    if context.subject.capabilities.prefix_cache:
        turns.append(Turn("extend", ((0, 3), (3, page))))
    turns.append(Turn("decode", ((0, 1), (2, 1), (1, 1))))
    if "mixed" in context.subject.capabilities.modes:
        turns.append(Turn("mixed", ((1, 1), (4, 3), (0, 1))))
    return turns


def watching(context: Context, body: Callable[[Bench, Watch], None]) -> None:
    """Run ``body`` for each page size on a device that records what happens."""

    def run(cell: Cell) -> None:
        with watched(context) as watch:
            body(Bench(context, cell, device=watch.device, looks=False), watch)

    context.explore(context.page_cells(), None, run)


@check(
    "kv-path.never-goes-through-the-host",
    4,
    "No layer copies anything between host and device",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="Keys and values through the host are right, and ruinous.",
)
def _host(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        for turn in turns_of(context, bench.cell):
            step = bench.step(turn)
            bench.prepare(step)
            for layer in range(LAYERS):
                watch.take()
                bench.attend(step, layer)
                found = watch.transfers(watch.take())
                clause = clause_of(context, turn.mode)
                allowed = clause.host_transfers if clause is not None else 0
                expect(
                    len(found) <= (allowed or 0),
                    f"{turn.mode}, layer {layer}: {len(found)} copies between host and device, the "
                    f"contract says {allowed or 0}: {told(found)} ({bench.cell.label})",
                )

    watching(context, body)


@check(
    "kv-path.layers-do-not-wait",
    4,
    "No layer makes the host wait for the device",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="One wait a layer stops the launch queue as often as there are layers.",
)
def _wait(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        for turn in turns_of(context, bench.cell):
            step = bench.step(turn)
            bench.prepare(step)
            for layer in range(LAYERS):
                watch.take()
                bench.attend(step, layer)
                found = watch.waits(watch.take())
                expect(
                    not found,
                    f"{turn.mode}, layer {layer}: the host waits {len(found)} times: "
                    f"{told(found)} ({bench.cell.label})",
                )

    watching(context, body)


@check(
    "kv-path.pool-writes-stay-on-the-device",
    4,
    "set_kv_buffer, get_key_buffer and get_value_buffer copy nothing to or from the host",
    clauses=("kv-pool-mha/set_kv_buffer", "kv-pool-mha/get_key_buffer"),
    why="The pool lies in the vendor's memory for this reason.",
)
def _pool(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        from sglang_contracts.suite.checks.pool import _rows, _slots

        slots = _slots(bench, 5, 1)
        keys, values = _rows(bench, 5, 1)
        loc = bench.tensor(slots, "int64")
        watch.take()
        with context.observed():
            ask("set_kv_buffer", bench.pool.set_kv_buffer, bench.layers[0], loc, keys, values)
            ask("get_key_buffer", bench.pool.get_key_buffer, 0)
            ask("get_value_buffer", bench.pool.get_value_buffer, 0)
        events = watch.take()
        found = [*watch.transfers(events), *watch.waits(events)]
        expect(not found, f"writing the pool: {told(found)} ({bench.cell.label})")

    watching(context, body)


@check(
    "kv-path.offload-lies-on-the-host",
    4,
    "What get_cpu_copy takes of a request lies in the host's memory",
    clauses=("kv-pool-mha/get_cpu_copy",),
    why="A request is retracted because the card is full: a copy there frees nothing.",
)
def _offloaded(context: Context) -> None:
    if context.subject.kv_pool is None:
        raise Inapplicable("the plugin uses SGLang's own pool")
    if context.clause("kv-pool-mha/get_cpu_copy") is None:
        raise Inapplicable(f"SGLang {context.release} does not offload slots")

    def body(bench: Bench, watch: Watch) -> None:
        from sglang_contracts.fakes.nested import tensors

        if bench.cell.latent and context.subject.latent_pool is None:
            return  # SGLang's own
        slots = bench.tensor(range(bench.cell.page_size, 3 * bench.cell.page_size), "int64")
        kept = tensors(ask("get_cpu_copy", bench.pool.get_cpu_copy, slots))
        there = [tensor for tensor in kept if tensor.device.type == watch.device]
        expect(
            not there,
            f"get_cpu_copy gives {len(there)} of {len(kept)} tensors on {watch.device} "
            f"({bench.cell.label})",
        )

    watching(context, body)


@check(
    "kv-path.cost-does-not-follow-the-pool",
    4,
    "No layer allocates more where the pool is larger",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="A copy of the cache in a layer fits the test's pool, and not the card's.",
)
def _pool_size(context: Context) -> None:
    def run(cell: Cell) -> None:
        with watched(context) as watch:

            def costs(slots: int) -> list[tuple[str, int, list[Any]]]:
                bench = Bench(context, cell, device=watch.device, slots=slots, looks=False)
                found = []
                for turn in turns_of(context, cell):
                    step = bench.step(turn)
                    bench.prepare(step)
                    watch.take()
                    bench.attend(step, 0)
                    events = [event for event in watch.launches(watch.take()) if event.nbytes]
                    found.append((turn.mode, sum(event.nbytes for event in events), events))
                return found

            least = max(512, 20 * cell.page_size)
            for few, many in zip(costs(least), costs(3 * least), strict=True):
                largest = sorted(many[2], key=lambda event: -event.nbytes)
                expect(
                    many[1] <= few[1],
                    f"{many[0]}: a layer allocates {many[1]} bytes with a pool of {3 * least} "
                    f"slots, {few[1]} with {least}: {told(largest, 2)} ({cell.label})",
                )

    context.explore(context.page_cells(), None, run)


@check(
    "kv-pool.never-grows",
    4,
    "The pool's buffers are the ones made at the start, of the same size, until the pool is full",
    clauses=("kv-pool-mha/k_buffer", "kv-pool-mha/v_buffer"),
    why="A pool that grows on demand shows as memory jumping at intervals.",
)
def _never_grows(context: Context) -> None:
    def body(cell: Cell) -> None:
        from sglang_contracts.suite.checks.pool import _rows

        bench = Bench(context, cell, slots=256)
        before = [
            [(b.data_ptr(), tuple(b.shape)) for b in bench.buffers(layer)]
            for layer in range(LAYERS)
        ]
        page, size = cell.page_size, bench.geometry.size
        for start in range(page, size + page, 64):
            slots = list(range(start, min(start + 64, size + page)))
            keys, values = _rows(bench, len(slots), start)
            for layer in range(LAYERS):
                ask(
                    f"set_kv_buffer at slots {slots[0]} to {slots[-1]} of {size}",
                    bench.pool.set_kv_buffer,
                    bench.layers[layer],
                    bench.tensor(slots, "int64"),
                    keys,
                    values,
                )
        for layer in range(LAYERS):
            now = [(b.data_ptr(), tuple(b.shape)) for b in bench.buffers(layer)]
            for part, was, found in zip(("key", "value"), before[layer], now, strict=True):
                expect(
                    was == found,
                    f"the {part} buffer of layer {layer} went from {list(was[1])} to "
                    f"{list(found[1])}"
                    + (", at another address" if was[0] != found[0] else "")
                    + f" ({cell.label})",
                )

    context.explore(context.page_cells(), None, body)


@check(
    "allocator.does-not-wait-for-the-device",
    4,
    "alloc_extend and alloc_decode neither copy from the device nor wait for it",
    clauses=("kv-allocator-paged/alloc_extend", "kv-allocator-paged/alloc_decode"),
    why="Allocation stands between two forward passes: a wait there is an idle card.",
)
def _allocation(context: Context) -> None:
    if context.subject.allocator is None:
        raise Inapplicable("the plugin uses SGLang's own allocator")

    def body(bench: Bench, watch: Watch) -> None:
        from sglang_contracts.suite.book import Book

        if bench.cell.page_size == 1:
            raise Inapplicable("with pages of one slot core takes slots by alloc() alone")
        book = Book(bench)
        book.extend({0: 5, 1: bench.cell.page_size})
        builder, allocator = bench.builder, bench.allocator
        last = [slots[-1] for slots in book.requests.values()]
        lens = [len(slots) for slots in book.requests.values()]
        calls = (
            ("alloc_decode", builder.alloc_decode, ([n + 1 for n in lens], last)),
            ("alloc_extend", builder.alloc_extend, ([0], [7], [-1])),
        )
        for name, call, arguments in calls:
            watch.take()
            with context.observed():
                ask(name, call, allocator, *arguments)
            # The bench's own arguments travel to the device: only the way back is the allocator's.
            found = watch.waits(watch.take())
            expect(
                not found,
                f"{name} waits for the device: {told(found)} ({bench.cell.label})",
            )

    watching(context, body)
