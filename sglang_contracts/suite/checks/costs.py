"""Level 4: what metadata, prefill and decode may launch and allocate."""

from __future__ import annotations

from typing import Any

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.discipline import watching
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.device import Watch, told
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Turn
from sglang_contracts.suite.violation import expect
from sglang_contracts.suite.watched import LAYERS

ALLOWANCE = 4096
"""Bytes that a decode layer, and a step's metadata, may allocate beside the result."""
METADATA_TRANSFERS = 8
"""Transfers and waits that building a batch's metadata may cost, whatever the batch's size."""


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

    watching(context, body)


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

    watching(context, body)


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

    watching(context, body)


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

    watching(context, body)


@check(
    "decode.allocates-only-its-result",
    4,
    "A steady decode step allocates what its layers return, and a small amount of fixed size",
    needs=("mode:decode",),
    clauses=("attention-backend/forward_decode", "attention-backend/init_forward_metadata"),
    why="Allocation at run time makes latency worse with concurrency, and steps in memory.",
)
def _only_result(context: Context) -> None:
    def body(bench: Bench, watch: Watch) -> None:
        few = Turn("decode", ((0, 1), (1, 1), (2, 1)))
        many = Turn("decode", tuple((number, 1) for number in range(12)))
        bench.run(Turn("extend", tuple((number, 3 + number % 7) for number in range(12))))
        for turn in (few, many, few):
            bench.run(turn)
        before: list[int] = []
        for turn in (few, many):
            for index, (what, taken, result, events) in enumerate(_taken(bench, watch, turn)):
                told_as = (
                    f"{what}, in a steady decode of {len(turn.rows)} requests, allocates {taken} "
                    f"bytes, its result has {result}"
                )
                expect(
                    taken <= result + ALLOWANCE,
                    f"{told_as}; {ALLOWANCE} more are allowed: {told(events)} ({bench.cell.label})",
                )
                if turn is few:
                    before.append(taken - result)
                expect(
                    taken - result <= max(0, before[index]),
                    f"{told_as}: what comes on top grows with the batch: {told(events)} "
                    f"({bench.cell.label})",
                )

    watching(context, body)


def _taken(bench: Bench, watch: Watch, turn: Turn) -> list[tuple[str, int, int, list[Any]]]:
    """Bytes that metadata and layers of a decode step allocate, and those of their results."""
    step = bench.step(turn)
    watch.take()
    with bench.context.observed():
        bench.prepare(step)
    found = [("building metadata", 0)]
    events = [[event for event in watch.launches(watch.take()) if event.nbytes]]
    for layer in range(LAYERS):
        watch.take()
        done = bench.attend(step, layer)
        events.append([event for event in watch.launches(watch.take()) if event.nbytes])
        found.append((f"layer {layer}", done.out.nbytes))
    return [
        (what, sum(event.nbytes for event in each), result, each)
        for (what, result), each in zip(found, events, strict=True)
    ]


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

    watching(context, body)


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

    watching(context, body)
