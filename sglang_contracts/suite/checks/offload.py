"""What a retracted request's cache must be after it was on the host."""

from __future__ import annotations

import itertools
from typing import Any

from sglang_contracts.contract import variant
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.pool import each, equal
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell
from sglang_contracts.suite.violation import Inapplicable, ask
from sglang_contracts.suite.watched import LAYERS


def _handed_on(context: Context) -> dict[str, Any]:
    """The keywords beside the slots with which this release's core offloads a request."""
    clause = context.clause("kv-allocator-paged/get_cpu_copy")
    known = variant(clause.parameters, context.release) if clause is not None else None
    values = {"mamba_indices": None, "req_pool_index": 1}
    return {name: value for name, value in values.items() if f"{name}=" in (known or ())}


@check(
    "kv-pool.offload-restores",
    3,
    "What get_cpu_copy has taken, load_cpu_copy puts into other slots, bit for bit",
    clauses=(
        "kv-pool-mha/get_cpu_copy",
        "kv-pool-mha/load_cpu_copy",
        "kv-allocator-paged/get_cpu_copy",
    ),
    forbids_raising=True,
    why="A retracted request goes on from its offloaded cache.",
)
def _offload(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        if context.subject.kv_pool is None:
            raise Inapplicable("the plugin uses SGLang's own pool")
        if context.clause("kv-pool-mha/get_cpu_copy") is None:
            raise Inapplicable(f"SGLang {context.release} does not offload slots")
        page = cell.page_size
        pages = [[*range(n * page, (n + 1) * page)] for n in range(1, 6)]
        slots = [*pages[2], *pages[0]]  # a request's pages come in no order
        target = [*pages[4], *pages[1]]
        before = [bench.raw(layer) for layer in range(LAYERS)]
        # As core does: through the allocator, which hands on, with a row of the request table.
        allocator = bench.allocator
        row, later = bench.tensor(slots, "int32"), bench.tensor(target, "int32")
        kept = ask("get_cpu_copy", allocator.get_cpu_copy, row, **_handed_on(context))
        bench.fill(99)
        ask("load_cpu_copy", allocator.load_cpu_copy, kept, later, **_handed_on(context))
        for layer in range(LAYERS):
            keys, values = before[layer]
            equal(bench, layer, target, keys[slots], values[slots], "after offloading and loading")
        pair = ([*pages[0], *pages[1]], [*pages[3], *pages[2]])  # two requests of one length
        before = [bench.raw(layer) for layer in range(LAYERS)]
        rows = [bench.tensor(slots, "int32") for slots in pair]
        taken = [
            ask("get_cpu_copy", allocator.get_cpu_copy, row, **_handed_on(context)) for row in rows
        ]
        bench.fill(97)
        for kept, row in zip(taken, rows, strict=True):
            ask("load_cpu_copy", allocator.load_cpu_copy, kept, row, **_handed_on(context))
        for layer, slots in itertools.product(range(LAYERS), pair):
            keys, values = (part[slots] for part in before[layer])
            equal(bench, layer, slots, keys, values, "after offloading two requests of one length")
        everything = list(range(page, bench.geometry.size + page))
        before = [bench.raw(layer) for layer in range(LAYERS)]
        row = bench.tensor(everything, "int32")
        kept = ask("get_cpu_copy", allocator.get_cpu_copy, row, **_handed_on(context))
        bench.fill(98)
        ask("load_cpu_copy", allocator.load_cpu_copy, kept, row, **_handed_on(context))
        for layer in range(LAYERS):
            keys, values = (part[everything] for part in before[layer])
            equal(bench, layer, everything, keys, values, "after offloading the whole pool")

    each(context, body)
