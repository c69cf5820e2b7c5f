"""What outlives a call: tensors that were handed over, state of requests, backends side by side."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from sglang_contracts.live.build import accepted
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.sampling import ALL
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import Inapplicable, ask, expect
from sglang_contracts.suite.watched import LAYERS


@check(
    "allocator.tensors-are-the-callers",
    3,
    "The allocator changes no tensor that it was given, nor later one that it has given out",
    clauses=("kv-allocator-paged/alloc_extend", "kv-allocator-paged/free"),
    forbids_raising=True,
    why="Slots stay in the request table and the batch while further ones are given out.",
)
def _tensors(context: Context) -> None:
    if context.subject.allocator is None:
        raise Inapplicable("the plugin uses SGLang's own allocator")

    def body(cell: Cell) -> None:
        import torch

        bench = Bench(context, cell, slots=256, looks=False)
        allocator, builder, page = bench.allocator, bench.builder, cell.page_size
        out: list[tuple[str, Any, Any]] = []

        def call(name: str, **values: Any) -> Any:
            method = getattr(allocator, name)
            given = accepted(method, values)
            before = {n: v.clone() for n, v in given.items() if hasattr(v, "clone")}
            found = ask(name, method, **given)
            for argument, was in before.items():
                expect(
                    torch.equal(given[argument], was),
                    f"{name} changes its argument {argument} in place ({cell.label})",
                )
            if found is not None:
                out.append((name, found, found.clone()))
            return found

        if page > 1:
            none, lens = [0, 0], [page + 1, page]
            first = call("alloc_extend", **builder.extension(bench.device, none, lens, [-1, -1]))
            last = [int(first[page]), int(first[-1])]
            for more in (1, 2):  # the slots of the first step stay the batch's in the second
                longer = [n + more for n in lens]
                last = call("alloc_decode", **builder.step(bench.device, longer, last)).tolist()
            for lens in ([2, 1], [page, page]):  # no larger than the one before: it would fit there
                call("alloc_extend", **builder.extension(bench.device, none, lens, [-1, -1]))
        for pages in (2, 1, 3):
            call("alloc", need_size=pages * page)
        for _, slots, _ in out[-2:]:
            call("free", free_index=slots.flip(0).to(torch.int32))
        for pages in (1, 4):
            call("alloc", need_size=pages * page)
        for name, slots, was in out:
            expect(
                torch.equal(slots, was),
                f"the slots that {name} has given out are others after further calls "
                f"({cell.label})",
            )

    context.explore(context.page_cells(), None, body)


@check(
    "sampler.parameters-are-left-alone",
    3,
    "The sampler changes no vector of the batch's sampling parameters",
    needs=("sampler",),
    clauses=("sampling/temperatures", "sampling/top_ps", "sampling/top_ks", "sampling/min_ps"),
    why="They serve every further step: a request sampled once differently stays so.",
)
def _parameters(context: Context) -> None:
    import torch

    logits = torch.randn(4, 20, generator=torch.Generator().manual_seed(5))
    for cold in (0.0, 0.5):
        info = context.builder.sampling_info(
            "cpu", [cold, 0.5, 1.0, 2.0], [0.5, 1.0, 0.9, 0.1], [ALL, 5, 1, 100], 20
        )
        info.min_ps = torch.tensor([0.3, 0.0, 0.1, 0.0])
        info.need_min_p_sampling = True
        kept = {
            name: value.clone() for name, value in vars(info).items() if hasattr(value, "clone")
        }
        for _ in range(2):
            ask("sampling", context.subject.sampler, logits.clone(), info)
        changed = [name for name, value in kept.items() if not torch.equal(vars(info)[name], value)]
        expect(not changed, f"sampling changes {', '.join(changed)} in place")


@check(
    "attention-backend.retracted-requests-start-anew",
    3,
    "A request that is retracted and comes back in other slots and another row attends to these",
    needs=("mode:extend", "mode:decode"),
    clauses=("forward-batch/req_pool_indices", "forward-batch/rids"),
    why="What a backend remembers of a request, of its row or of its lengths is another's by then.",
)
def _retracted(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        # Three pages: the bench hands them to the next owner in another order.
        length = 2 * min(cell.page_size, 128) + 3

        def run(mode: str, *rows: tuple[int, ...]) -> None:
            for done in bench.run(Turn(mode, rows)):
                bench.compare(done, "with requests that have been away, the result")

        for again in range(2):
            run("extend", (0, length), (1, 5))
            run("decode", (0, 1), (1, 1))
            run("decode", (0, 1))
            bench.end(0)
            # Another one in its row and on its pages, as long as it, step by step.
            run("extend", (2 + again, length))
            run("decode", (2 + again, 1), (1, 1))
            run("decode", (2 + again, 1))
            run("extend", (0, length))  # back, elsewhere
            run("decode", (0, 1), (1, 1))
            run("decode", (0, 1), (2 + again, 1))
            bench.end(1)
            bench.end(0)

    context.explore(context.page_cells(), None, body)


@contextlib.contextmanager
def _served_by(bench: Bench, backend: Any) -> Iterator[None]:
    """Within it the bench's batches are another backend's."""
    kept, bench.backend = bench.backend, backend
    try:
        yield
    finally:
        bench.backend = kept


@check(
    "attention-backend.two-backends-keep-apart",
    3,
    "Two backends of one process, with a batch each, run their layers in turn",
    needs=("mode:extend", "mode:decode"),
    clauses=("attention-backend/init_forward_metadata",),
    why="Two-batch overlap runs two, and a draft model has its own beside the target's.",
)
def _two(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        make: Any = context.subject.make_backend  # the bench has called it already
        backends = [bench.backend, ask("making a second attention backend", make, bench.runner)]
        prefixed = context.subject.capabilities.prefix_cache
        more = (Turn("extend", ((0, 3), (1, 2))), Turn("extend", ((2, 3), (3, 2))))
        for turns in (
            (Turn("extend", ((0, 5), (1, 2))), Turn("extend", ((2, 9), (3, 4), (4, 1)))),
            *([more] if prefixed else []),  # on cached tokens, of one shape
            (Turn("decode", ((0, 1), (1, 1))), Turn("decode", ((4, 1), (2, 1), (3, 1)))),
            (Turn("decode", ((0, 1), (1, 1))), Turn("decode", ((3, 1), (2, 1)))),
        ):
            steps = []
            for backend, turn in zip(backends, turns, strict=True):
                with _served_by(bench, backend):
                    steps.append(bench.step(turn))
                    bench.prepare(steps[-1])
            for layer in range(LAYERS):
                for backend, step in zip(backends, steps, strict=True):
                    with _served_by(bench, backend):
                        bench.compare(
                            bench.attend(step, layer), "beside another backend's batch, the result"
                        )

    context.explore(context.page_cells(), None, body)
