"""Level 2: what the pool and the allocator say of themselves, as core reads it off them."""

from __future__ import annotations

import dataclasses
from typing import Any

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.passes import noise
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell
from sglang_contracts.suite.violation import Inapplicable, SubjectError, ask, describe, expect
from sglang_contracts.suite.watched import LAYERS

_MANY = 5
"""Layers of a pool whose buffers must all be different: more than any two that take turns."""


def _said(context: Context, contract: str, holder: Any, wanted: dict[str, Any], what: str) -> None:
    """Hold attributes, as far as the release has them, to what was asked for."""
    for name, value in wanted.items():
        if context.clause(f"{contract}/{name}") is None:
            continue
        expect(hasattr(holder, name), f"{what} has no {name}, which core reads off it")
        found = getattr(holder, name)
        expect(
            str(found).partition(":")[0] == str(value),
            f"{what} says {name} {found}, made was one of {value}",
        )


@check(
    "kv-pool.says-what-it-is",
    2,
    "Size, page size, dtype, device, layers, heads and memory of the pool are those asked for",
    clauses=("kv-pool-mha/page_size", "kv-pool-mha/dtype", "kv-pool-mha/mem_usage"),
    why="Backends, the scheduler and the memory report count with them.",
)
def _pool(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        pool = bench.pool
        wanted = {
            "size": bench.geometry.size,
            "page_size": cell.page_size,
            "dtype": bench.geometry.torch_dtype,
            "device": bench.device,
            "layer_num": LAYERS,
            "start_layer": 0,
            "end_layer": LAYERS - 1,
            "head_num": cell.heads[1],
            "head_dim": cell.dims[0],
        }
        _said(context, "kv-pool-mha", pool, wanted, f"the pool ({cell.label})")
        if context.clause("kv-pool-mha/mem_usage") is None:
            return
        held = sum(buffer.nbytes for layer in range(LAYERS) for buffer in bench.buffers(layer))
        said = float(getattr(pool, "mem_usage", 0)) * 2**30
        expect(
            held * 0.9 <= said <= held * 1.1 + 2**20,
            f"the pool's mem_usage says {said / 2**30:.3g} GiB, its buffers take "
            f"{held / 2**30:.3g} ({cell.label})",
        )

    context.explore(context.cells(latent=False), None, body)


@check(
    "allocator.says-what-it-is",
    2,
    "The allocator has the size, page size, device and pool that it was made with",
    clauses=("kv-allocator-paged/page_size", "kv-allocator-paged/get_kvcache"),
    forbids_raising=True,
    why="The scheduler counts with them, and offloading asks it for its pool.",
)
def _allocator(context: Context) -> None:
    if context.subject.allocator is None:
        raise Inapplicable("the plugin uses SGLang's own allocator")

    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        wanted = {
            "size": bench.geometry.size,
            "page_size": cell.page_size,
            "dtype": bench.geometry.torch_dtype,
            "device": bench.device,
        }
        _said(context, "kv-allocator-paged", bench.allocator, wanted, f"the allocator of {cell}")
        found = ask("get_kvcache", bench.allocator.get_kvcache)
        expect(
            found is bench.pool,
            f"get_kvcache() gives {type(found).__name__}, not the pool that the allocator was made "
            f"with ({cell.label})",
        )

    context.explore(context.page_cells(), None, body)


@check(
    "kv-pool.every-layer-has-its-own-buffers",
    2,
    "Keys and values of each of five layers stand in memory of their own",
    clauses=("kv-pool-mha/k_buffer", "kv-pool-mha/v_buffer", "kv-pool-mha/set_kv_buffer"),
    why="Two layers in one buffer read each other's keys: fluent, and wrong.",
)
def _layers(context: Context) -> None:
    import torch

    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        pool = ask(
            f"making a pool of {_MANY} layers",
            context.builder.mha_pool,
            dataclasses.replace(bench.geometry, num_layers=_MANY),
            context.subject.kv_pool,
        )
        buffers = [*pool.k_buffer, *pool.v_buffer]
        expect(
            len(buffers) == 2 * _MANY,
            f"a pool of {_MANY} layers has {len(buffers)} buffers of keys and values",
        )
        for number, buffer in enumerate(buffers):
            buffer.fill_(number + 1)
        for number, buffer in enumerate(buffers):
            part, layer = divmod(number, _MANY)
            expect(
                bool((buffer == number + 1).all()),
                f"the {('key', 'value')[part]} buffer of layer {layer} is also another one's "
                f"({cell.label})",
            )
        bench.pool = pool
        heads, (dim, value_dim) = cell.heads[1], cell.dims
        slots, dtype = list(range(cell.page_size, cell.page_size + 3)), bench.geometry.torch_dtype
        given = [
            (noise((3, heads, dim), n).to(dtype), noise((3, heads, value_dim), n + 50).to(dtype))
            for n in range(_MANY)
        ]
        for number, (keys, values) in enumerate(given):
            layer, loc = context.builder.layer(bench.geometry, number), bench.tensor(slots, "int64")
            ask("set_kv_buffer", pool.set_kv_buffer, layer, loc, keys, values)
        for number, rows in enumerate(given):
            stored = bench.raw(number)
            for what, wanted, found in zip(("keys", "values"), rows, stored, strict=True):
                expect(
                    torch.equal(found[slots], wanted),
                    f"the {what} written to layer {number} of {_MANY} do not stand there "
                    f"({cell.label})",
                )

    context.explore(context.page_cells(latent=False), None, body)


@check(
    "kv-pool.hands-its-buffers-to-transfer",
    2,
    "get_contiguous_buf_infos names each buffer's address, its bytes and those of a page",
    clauses=("kv-pool-mha/get_contiguous_buf_infos",),
    why="Disaggregated prefill copies address + page * bytes: a wrong size is another page.",
)
def _transfer(context: Context) -> None:
    if context.clause("kv-pool-mha/get_contiguous_buf_infos") is None:
        raise Inapplicable(f"SGLang {context.release} asks no pool for its buffers")

    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        try:
            found = ask("get_contiguous_buf_infos", bench.pool.get_contiguous_buf_infos)
        except SubjectError:
            raise Inapplicable("the pool refuses to hand its buffers to transfers") from None
        buffers = [*bench.pool.k_buffer, *bench.pool.v_buffer]
        expect(
            isinstance(found, tuple) and len(found) == 3,
            f"get_contiguous_buf_infos gives {type(found).__name__}, not addresses, lengths and "
            "lengths of a page",
        )
        pages = [_page_bytes(bench, part) for part in (0, 1) for _ in range(LAYERS)]
        for what, named, wanted in (
            ("addresses", found[0], [buffer.data_ptr() for buffer in buffers]),
            ("bytes", found[1], [buffer.nbytes for buffer in buffers]),
            ("bytes of a page", found[2], pages),
        ):
            expect(
                len(named) == len(buffers),
                f"get_contiguous_buf_infos names {len(named)} {what}; there are {LAYERS} buffers "
                f"of keys, then {LAYERS} of values ({cell.label})",
            )
            wrong = [i for i, (a, b) in enumerate(zip(named, wanted, strict=True)) if a != b]
            expect(
                not wrong,
                f"{len(wrong)} of the {what} that get_contiguous_buf_infos names are not the "
                f"buffers', first that of {describe(buffers[min(wrong, default=0)])} "
                f"({cell.label})",
            )

    context.explore(context.page_cells(latent=False), None, body)


def _page_bytes(bench: Bench, part: int) -> int:
    """Bytes from one page's keys, or values, to the next one's."""
    buffer, axes = bench.buffers(0)[part], bench.axes[part]
    if axes.paged:
        stride = buffer.stride(axes.axes.index("page"))
    else:
        stride = buffer.stride(axes.axes.index("slot")) * bench.cell.page_size
    return int(stride * buffer.element_size())
