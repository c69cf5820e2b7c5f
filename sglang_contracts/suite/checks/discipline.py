"""Level 4: what a right answer may not cost, on a device that records what happens silently."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

from sglang_contracts.suite.bench import LAYERS, Bench
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.device import Watch, told, watched
from sglang_contracts.suite.judge import clause_of
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import Inapplicable, ask, expect

METADATA_TRANSFERS = 8
"""Transfers and waits that building a batch's metadata may cost, whatever the batch's size."""


def _cells(context: Context) -> tuple[Cell, ...]:
    found: dict[int, Cell] = {}
    for cell in context.cells():
        found.setdefault(cell.page_size, cell)
    return tuple(found.values())


def _turns(context: Context, cell: Cell) -> list[Turn]:
    page = min(cell.page_size, 32)
    turns = [Turn("extend", ((0, 5), (1, page + 1), (2, 2)))]
    if context.subject.capabilities.prefix_cache:
        turns.append(Turn("extend", ((0, 3), (3, page))))
    turns.append(Turn("decode", ((0, 1), (2, 1), (1, 1))))
    if "mixed" in context.subject.capabilities.modes:
        turns.append(Turn("mixed", ((1, 1), (4, 3), (0, 1))))
    return turns


def _watching(context: Context, body: Callable[[Bench, Watch], None]) -> None:
    def run(cell: Cell) -> None:
        with watched(context) as watch:
            body(Bench(context, cell, device=watch.device, looks=False), watch)

    context.explore(_cells(context), None, run)


@check(
    "kv-path.never-goes-through-the-host",
    4,
    "No layer copies anything between host and device",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="Keys and values through the host are right, and ruinous.",
)
def _host(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        for turn in _turns(context, bench.cell):
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

    _watching(context, body)


@check(
    "kv-path.layers-do-not-wait",
    4,
    "No layer makes the host wait for the device",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="One wait a layer stops the launch queue as often as there are layers.",
)
def _wait(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        for turn in _turns(context, bench.cell):
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

    _watching(context, body)


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

    _watching(context, body)


@check(
    "metadata.costs-the-same-for-every-batch-size",
    4,
    "Building metadata costs a bounded number of transfers, not more for more requests",
    clauses=("attention-backend/init_forward_metadata",),
    why="A transfer a request makes a batch of 128 slower than one of 1.",
)
def _metadata(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        def cost(turn: Turn) -> list[Any]:
            step = bench.step(turn)
            watch.take()
            with context.observed():
                bench.prepare(step)
            events = watch.take()
            return [*watch.transfers(events), *watch.waits(events)]

        few = cost(Turn("extend", ((0, 3),)))
        many = cost(Turn("extend", tuple((n, 3) for n in range(1, 9))))
        few_decode = cost(Turn("decode", ((0, 1),)))
        many_decode = cost(Turn("decode", tuple((n, 1) for n in range(9))))
        for mode, one, more in (("extend", few, many), ("decode", few_decode, many_decode)):
            expect(
                len(more) <= len(one),
                f"{mode}: {len(more)} transfers and waits for 8 requests, {len(one)} for one: "
                f"{told(more)} ({bench.cell.label})",
            )
            expect(
                len(more) <= METADATA_TRANSFERS,
                f"{mode}: {len(more)} transfers and waits a batch, at most {METADATA_TRANSFERS} "
                f"are allowed: {told(more)} ({bench.cell.label})",
            )

    _watching(context, body)


@check(
    "decode.launches-do-not-grow-with-the-batch",
    4,
    "A decode layer launches as many kernels for eight requests as for one",
    needs=("mode:decode",),
    clauses=("attention-backend/forward_decode",),
    why="A loop over requests in Python makes every further request cost a full step.",
)
def _launches(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        bench.run(Turn("extend", tuple((n, 3 + n) for n in range(8))))

        def count(turn: Turn) -> list[Any]:
            step = bench.step(turn)
            bench.prepare(step)
            watch.take()
            bench.attend(step, 0)
            return watch.launches(watch.take())

        one = count(Turn("decode", ((0, 1),)))
        many = count(Turn("decode", tuple((n, 1) for n in range(8))))
        expect(
            len(many) <= len(one),
            f"a decode layer launches {len(many)} kernels for 8 requests, {len(one)} for one "
            f"({bench.cell.label})",
        )

    _watching(context, body)


@check(
    "metadata.launches-do-not-grow-with-the-batch",
    4,
    "Metadata of eight requests take as many launches as those of one",
    clauses=("attention-backend/init_forward_metadata",),
    why="A loop over requests costs more than the attention it prepares.",
)
def _metadata_launches(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        def count(turn: Turn) -> list[Any]:
            step = bench.step(turn)
            watch.take()
            with context.observed():
                bench.prepare(step)
            events = watch.launches(watch.take())
            for layer in range(LAYERS):
                bench.attend(step, layer)
            return events

        # The same new tokens and lengths a request, so that only their number differs.
        pairs = [
            (
                "extend",
                Turn("extend", ((0, 5),)),
                Turn("extend", tuple((n, 5) for n in range(1, 9))),
            )
        ]
        if "decode" in context.subject.capabilities.modes:
            pairs.append(
                (
                    "decode",
                    Turn("decode", ((0, 1),)),
                    Turn("decode", tuple((n, 1) for n in range(1, 9))),
                )
            )
        for mode, few, many in pairs:
            one, more = count(few), count(many)
            expect(
                len(more) <= len(one),
                f"metadata of 8 requests ({mode}) take {len(more)} launches, of one {len(one)} "
                f"({bench.cell.label})",
            )

    _watching(context, body)


@check(
    "prefill.launches-do-not-grow-with-the-batch",
    4,
    "A prefill layer launches as many kernels for eight requests as for one",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend",),
    why="Short prompts come in batches: one kernel a request leaves the card idle between them.",
)
def _prefill_launches(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        def count(turn: Turn) -> list[Any]:
            step = bench.step(turn)
            bench.prepare(step)
            watch.take()
            bench.attend(step, 0)
            return watch.launches(watch.take())

        pairs = [(((0, 5),), tuple((n, 5) for n in range(1, 9)))]
        if context.subject.capabilities.prefix_cache:
            pairs.append((((0, 3),), tuple((n, 3) for n in range(1, 9))))
        for few, many in pairs:
            one, more = count(Turn("extend", few)), count(Turn("extend", many))
            expect(
                len(more) <= len(one),
                f"a prefill layer launches {len(more)} kernels for 8 requests, {len(one)} for one "
                f"({bench.cell.label})",
            )

    _watching(context, body)


@check(
    "decode.allocates-only-its-result",
    4,
    "A steady decode step allocates nothing but what its layers return",
    needs=("mode:decode",),
    clauses=("attention-backend/forward_decode", "attention-backend/init_forward_metadata"),
    why="Allocation at run time makes latency worse with concurrency, and steps in memory.",
)
def _only_result(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        turn = Turn("decode", ((0, 1), (1, 1), (2, 1)))
        bench.run(Turn("extend", ((0, 5), (1, 3), (2, 9))))
        for _ in range(2):
            bench.run(turn)
        step = bench.step(turn)
        watch.take()
        with context.observed():
            bench.prepare(step)
        events = [event for event in watch.launches(watch.take()) if event.nbytes]
        expect(
            not events,
            f"metadata of a steady decode step allocate {sum(e.nbytes for e in events)} bytes: "
            f"{told(events)} ({bench.cell.label})",
        )
        for layer in range(LAYERS):
            watch.take()
            done = bench.attend(step, layer)
            events = [event for event in watch.launches(watch.take()) if event.nbytes]
            taken, result = sum(event.nbytes for event in events), done.out.nbytes
            expect(
                taken <= result,
                f"a decode layer allocates {taken} bytes, its result has {result}: {told(events)} "
                f"({bench.cell.label})",
            )

    _watching(context, body)


@check(
    "decode.allocates-nothing-that-stays",
    4,
    "In steady decode the memory held on the device does not grow from step to step",
    needs=("mode:decode",),
    clauses=("attention-backend/forward_decode", "attention-backend/init_forward_metadata"),
    why="Memory that creeps up ends a server in the third hour.",
)
def _growth(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        turn = Turn("decode", ((0, 1), (1, 1), (2, 1)))
        bench.run(Turn("extend", ((0, 5), (1, 3), (2, 9))))

        def step() -> None:
            prepared = bench.step(turn)
            bench.prepare(prepared)
            for layer in range(LAYERS):
                bench.attend(prepared, layer)

        for _ in range(2):
            step()
        held = watch.live()
        for _ in range(6):
            step()
        growth = watch.live(held) - held
        expect(
            growth <= 0,
            f"after six more decode steps {growth} bytes more are held on the device "
            f"({bench.cell.label})",
        )

    _watching(context, body)


@check(
    "decode.cost-is-steady",
    4,
    "A decode step allocates and launches no more when sequences are longer",
    needs=("mode:decode",),
    clauses=("attention-backend/forward_decode",),
    why="Latency that grows with the answer, and steps in memory, come from here.",
)
def _steady(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        turn = Turn("decode", ((0, 1), (1, 1)))
        bench.run(Turn("extend", ((0, 4), (1, 6))))

        def cost() -> tuple[int, list[Any]]:  # bytes, and every launch
            prepared = bench.step(turn)
            watch.take()
            with context.observed():
                bench.prepare(prepared)
            bench.attend(prepared, 0)
            events = watch.launches(watch.take())
            return sum(event.nbytes for event in events), events

        cost()
        early, before = cost()
        bench.run(Turn("extend", ((0, 120), (1, 100))))
        cost()
        late, events = cost()
        largest = sorted(events, key=lambda event: -event.nbytes)
        expect(
            late <= early,
            f"a decode step allocates {late} bytes at 100 tokens more, {early} before: "
            f"{told(largest, 2)} ({bench.cell.label})",
        )
        expect(
            len(events) <= len(before),
            f"a decode step takes {len(events)} launches at 100 tokens more, {len(before)} before "
            f"({bench.cell.label})",
        )

    _watching(context, body)


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
                for turn in _turns(context, cell):
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

    context.explore(_cells(context), None, run)


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

    context.explore(_cells(context), None, body)


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

    _watching(context, body)


@contextlib.contextmanager
def _counting(targets: dict[str, tuple[str, ...]]) -> Iterator[list[str]]:
    """Note each call of the named functions.

    Yields:
        The path (``prefill`` or ``decode``) of each call, in order.
    """
    calls: list[str] = []
    undo = []

    def noting(path: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            calls.append(path)
            return function(*args, **kwargs)

        return noted

    try:
        for path, names in targets.items():
            for name in names:
                module, _, qual = name.partition(":")
                holder: Any = importlib.import_module(module)
                *parents, attribute = qual.split(".")
                for parent in parents:
                    holder = getattr(holder, parent)
                function = getattr(holder, attribute)
                setattr(holder, attribute, noting(path, function))
                undo.append((holder, attribute, function))
        yield calls
    finally:
        for holder, attribute, function in reversed(undo):
            setattr(holder, attribute, function)


@check(
    "kernels.prefill-and-decode-take-their-own",
    4,
    "Prefill runs on the prefill kernels and decode on the decode kernels, once a layer each",
    needs=("kernels", "mode:extend", "mode:decode"),
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="One general path for both was unacceptably slow.",
)
def _kernels(context: Context) -> None:
    targets = dict(context.subject.capabilities.kernels)
    if set(targets) != {"prefill", "decode"}:
        raise Inapplicable("'kernels' names only one of prefill and decode")

    def body(cell: Cell) -> None:
        try:
            counting = _counting(targets)
            with counting as calls:
                bench = Bench(context, cell, looks=False)
                turns = [(Turn("extend", ((0, 5), (1, 2))), "prefill")]
                if context.subject.capabilities.prefix_cache:
                    turns.append((Turn("extend", ((0, 3), (2, 4))), "prefill"))
                turns.append((Turn("decode", ((1, 1), (0, 1))), "decode"))
                for turn, wanted in turns:
                    calls.clear()
                    bench.run(turn)
                    expect(
                        bool(calls),
                        f"{turn.mode} calls none of the declared kernels "
                        f"({', '.join(targets[wanted])}; {cell.label})",
                    )
                    other = [path for path in calls if path != wanted]
                    expect(
                        not other,
                        f"{turn.mode} runs {len(other)} of {len(calls)} launches on the "
                        f"{other[0] if other else ''} kernel ({cell.label})",
                    )
        except (ImportError, AttributeError) as error:
            raise Inapplicable(f"a declared kernel cannot be found: {error}") from error

    context.explore(_cells(context), None, body)


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@check(
    "log.names-the-backend-of-each-request",
    4,
    "The log tells for each request which backend served it",
    needs=("request-log",),
    clauses=("forward-batch/rids",),
    why="With two kinds of card behind one gateway nothing else tells who answered.",
)
def _log(context: Context) -> None:
    capabilities = context.subject.capabilities
    name = context.subject.settings.attention_backend or context.subject.settings.platform
    if not name:
        raise Inapplicable("the settings name no 'attention-backend' to look for in the log")
    logger = logging.getLogger(capabilities.request_log)
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    has_ids = context.clause("forward-batch/rids") is not None

    def body(cell: Cell) -> None:
        records = _Records()
        level = logger.level
        logger.addHandler(records)
        logger.setLevel(logging.INFO)
        try:
            bench = Bench(context, cell, looks=False)
            for turn in (
                Turn("extend", ((0, 5), (1, 2), (2, 3))),
                Turn("decode", ((1, 1), (0, 1))),
                Turn("extend", ((3, 4),)),
            ):
                bench.run(turn)
                expect(
                    any(word.search(line) for line in records.lines),
                    f"after {turn.mode}, no line of the log {capabilities.request_log!r} names the "
                    f"backend {name!r} ({len(records.lines)} lines)",
                )
                for number in [row[0] for row in turn.rows] if has_ids else ():
                    served = re.compile(rf"request-{number}\b")
                    lines = [line for line in records.lines if served.search(line)]
                    expect(
                        bool(lines) and all(word.search(line) for line in lines),
                        f"after {turn.mode}, {len(lines)} lines of the log name request {number}, "
                        f"and not all of them the backend {name!r}",
                    )
        finally:
            logger.removeHandler(records)
            logger.setLevel(level)

    context.explore(_cells(context)[:1], None, body)
