"""What the key/value pool must do with what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sglang_contracts.contract import variant
from sglang_contracts.suite import judge
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.passes import decode, extend, modes_of, play, prefix
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.passes import noise
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell
from sglang_contracts.suite.violation import Inapplicable, SubjectError, ask, describe, expect
from sglang_contracts.suite.watched import LAYERS


@check(
    "kv-pool.foreign-slots-untouched",
    3,
    "A pass changes the batch's own slots of its own layer and nothing else; slot 0 stays",
    clauses=("kv-pool-mha/set_kv_buffer", "attention-backend/forward_extend"),
    why="A displaced write is another request's mixed-up text.",
)
def _foreign(context: Context) -> None:
    modes = modes_of(context, "extend", "decode", "mixed")
    play(
        context,
        (judge.only_own_slots,),
        (extend, decode, prefix),
        modes=modes,
        sharing=True,
        turns=5,
    )


@check(
    "kv-pool.tokens-land-in-their-slots",
    3,
    "After a pass every new token's keys and values stand in its slot, bit for bit",
    clauses=("kv-pool-mha/set_kv_buffer", "forward-batch/out_cache_loc"),
    why="The next pass and the prefix cache read them there.",
)
def _landed(context: Context) -> None:
    modes = modes_of(context, "extend", "decode", "mixed")
    play(context, (judge.written,), (extend, decode), modes=modes, turns=5)


def _rows(bench: Bench, count: int, seed: int) -> tuple[Any, Any]:
    """Keys and values of ``count`` tokens, in the pool's dtype, on its device."""
    heads, (dim, value_dim) = bench.cell.heads[1], bench.cell.dims
    dtype = bench.geometry.torch_dtype
    keys = noise((count, heads, dim), seed).to(dtype).to(bench.device)
    if bench.cell.latent:
        return keys, keys[..., :value_dim]
    values = noise((count, heads, value_dim), seed + 1).to(dtype).to(bench.device)
    return keys, values


def _slots(bench: Bench, count: int, seed: int) -> list[int]:
    """Distinct slots outside the padding page, in no order."""
    import random

    page = bench.cell.page_size
    slots = list(range(page, bench.geometry.size + page))
    random.Random(seed).shuffle(slots)  # noqa: S311 - test data
    return slots[:count]


def each(context: Context, body: Any) -> None:
    """Run ``body(cell)`` for each cell of keys and values by heads."""
    context.explore(context.cells(latent=False), None, body)


def equal(bench: Bench, layer: int, slots: list[int], keys: Any, values: Any, what: str) -> None:
    """Hold slots of a layer, read by raw index, to what must stand in them."""
    raw = bench.raw(layer)
    for part, buffer, rows in zip(("keys", "values"), raw, (keys, values), strict=True):
        wanted = rows.to("cpu").to(buffer.dtype)
        found = buffer[slots]
        expect(
            found.shape == wanted.shape,
            f"{what}: the {part} in the pool are {describe(found)}, not {describe(wanted)}",
        )
        wrong = [int(i) for i in (found != wanted).flatten(1).any(1).nonzero().flatten()]
        expect(
            not wrong,
            f"{what}: the {part} of {len(wrong)} of {len(slots)} slots are not what they must be; "
            f"first: slot {slots[min(wrong, default=0)]} (layer {layer}, {bench.cell.label})",
        )


@check(
    "kv-pool.buffers-have-the-declared-layout",
    2,
    "Each layer has buffers of the declared axes: slots and the padding page, heads, head dim",
    clauses=("kv-pool-mha/k_buffer", "kv-pool-mha/v_buffer"),
    why="Everything that copies or moves slots counts on it.",
)
def _layout(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        for layer in range(LAYERS):
            for part, buffer, axes, dim in zip(
                ("key", "value"), bench.buffers(layer), bench.axes, cell.dims, strict=True
            ):
                expect(
                    buffer.dim() == len(axes.axes),
                    f"the {part} buffer is {describe(buffer)}; declared are the axes "
                    f"{', '.join(axes.axes)}",
                )
                sizes = dict(zip(axes.axes, buffer.shape, strict=True))
                slots = sizes.get("slot", sizes.get("page", 0) * sizes.get("offset", 0))
                expect(
                    sizes["head"] == cell.heads[1] and sizes["dim"] == dim,
                    f"the {part} buffer has {sizes['head']} heads of {sizes['dim']}, not "
                    f"{cell.heads[1]} of {dim}: {describe(buffer)} with axes "
                    f"{', '.join(axes.axes)}",
                )
                expect(
                    "offset" not in sizes or sizes["offset"] == cell.page_size,
                    f"the {part} buffer has pages of {sizes.get('offset')}, not {cell.page_size}",
                )
                expect(
                    slots >= bench.geometry.size + cell.page_size,
                    f"the {part} buffer has {slots} slots; {bench.geometry.size} were asked for, "
                    f"and a padding page of {cell.page_size} comes on top",
                )
                expect(
                    str(buffer.dtype) == f"torch.{cell.dtype}",
                    f"the {part} buffer is {describe(buffer)}, asked for was {cell.dtype}",
                )
                expect(
                    buffer.device.type == bench.device,
                    f"the {part} buffer is on {buffer.device}, asked for was {bench.device}",
                )

    each(context, body)


@check(
    "kv-pool.takes-the-write-location-of-core",
    2,
    "set_kv_buffer takes the location as this release hands it over, and as a bare tensor",
    clauses=("kv-pool-mha/set_kv_buffer", "kv-pool-mha/KVWriteLoc"),
    forbids_raising=True,
    why="Since 0.5.14 core hands over a KVWriteLoc: a pool that indexes with it dies.",
)
def _location(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        forms: tuple[Callable[[Any], Any], ...] = (
            context.builder.differences.write_location,
            lambda loc: loc,
        )
        for index, form in enumerate(forms):
            slots = _slots(bench, 5, index)
            keys, values = _rows(bench, 5, index * 2)
            ask(
                "set_kv_buffer with the location in core's form" if index == 0 else "set_kv_buffer",
                bench.pool.set_kv_buffer,
                bench.layers[1],
                form(bench.tensor(slots, "int64")),
                keys,
                values,
            )
            equal(bench, 1, slots, keys, values, "after set_kv_buffer")
            before = bench.raw(1)
            none = form(bench.tensor([], "int64"))
            ask(
                "set_kv_buffer of no token",
                bench.pool.set_kv_buffer,
                bench.layers[1],
                none,
                keys[:0],
                values[:0],
            )
            equal(bench, 1, slots, before[0][slots], before[1][slots], "after writing no token")

    each(context, body)


def _overrides(context: Context) -> bool:
    """Whether this release's set_kv_buffer takes another layer's number."""
    clause = context.clause("kv-pool-mha/set_kv_buffer")
    known = variant(clause.parameters, context.release) if clause is not None else None
    return "layer_id_override=" in (known or ())


@check(
    "kv-pool.layer-override-is-obeyed",
    2,
    "set_kv_buffer writes to layer_id_override where it is given, not to the layer's own buffer",
    clauses=("kv-pool-mha/set_kv_buffer",),
    forbids_raising=True,
    why="Layers that share a cache write under another layer's number.",
)
def _override(context: Context) -> None:
    if not _overrides(context):
        raise Inapplicable(f"SGLang {context.release} has no layer_id_override")

    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        slots = _slots(bench, 4, 5)
        for own, other in ((0, 1), (1, 0)):  # 0 is a layer, and easily taken for none
            keys, values = _rows(bench, 4, 8 + own)
            before = bench.raw(own)
            ask(
                f"set_kv_buffer with layer_id_override={other}",
                bench.pool.set_kv_buffer,
                bench.layers[own],
                bench.tensor(slots, "int64"),
                keys,
                values,
                layer_id_override=other,
            )
            equal(bench, other, slots, keys, values, f"written with layer_id_override={other}")
            kept = before[0][slots], before[1][slots]
            equal(bench, own, slots, *kept, f"the layer's own, with layer_id_override={other}")

    each(context, body)


@check(
    "kv-pool.getters-show-what-is-stored",
    2,
    "get_key_buffer, get_value_buffer and get_kv_buffer give the layer's own buffers",
    clauses=(
        "kv-pool-mha/get_key_buffer",
        "kv-pool-mha/get_value_buffer",
        "kv-pool-mha/get_kv_buffer",
    ),
    forbids_raising=True,
    why="Other backends and the transfer code read the cache through them.",
)
def _getters(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        for layer in range(LAYERS):
            keys = ask("get_key_buffer", bench.pool.get_key_buffer, layer)
            values = ask("get_value_buffer", bench.pool.get_value_buffer, layer)
            pair = ask("get_kv_buffer", bench.pool.get_kv_buffer, layer)
            expect(
                isinstance(pair, (tuple, list)) and len(pair) == 2,
                f"get_kv_buffer gives {type(pair).__name__}, not keys and values",
            )
            for what, found, wanted in (
                ("get_key_buffer", keys, bench.buffers(layer)[0]),
                ("get_value_buffer", values, bench.buffers(layer)[1]),
                ("get_kv_buffer[0]", pair[0], bench.buffers(layer)[0]),
                ("get_kv_buffer[1]", pair[1], bench.buffers(layer)[1]),
            ):
                expect(
                    found.data_ptr() == wanted.data_ptr() and found.numel() == wanted.numel(),
                    f"{what}({layer}) gives {describe(found)}, which is not the layer's buffer "
                    f"{describe(wanted)}",
                )

    each(context, body)


@check(
    "kv-pool.reports-its-size",
    2,
    "get_kv_size_bytes gives the bytes of all key and all value buffers",
    clauses=("kv-pool-mha/get_kv_size_bytes",),
    forbids_raising=True,
    why="Memory planning and the log rest on it.",
)
def _size(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        method = getattr(bench.pool, "get_kv_size_bytes", None)
        if method is None:
            raise Inapplicable("the pool of this release has no get_kv_size_bytes")
        found = ask("get_kv_size_bytes", method)
        wanted = tuple(
            sum(bench.buffers(layer)[part].nbytes for layer in range(LAYERS)) for part in (0, 1)
        )
        expect(
            isinstance(found, tuple) and tuple(int(n) for n in found) == wanted,
            f"get_kv_size_bytes gives {found}, the buffers have {wanted} bytes ({cell.label})",
        )

    each(context, body)


@check(
    "kv-pool.casts-to-its-dtype",
    3,
    "Keys and values of another dtype are stored rounded to the pool's, divided by their scale",
    clauses=("kv-pool-mha/set_kv_buffer",),
    forbids_raising=True,
    why="A model in float32 over a bfloat16 cache is ordinary; reinterpreted bits are garbage.",
)
def _cast(context: Context) -> None:
    def body(cell: Cell) -> None:
        import torch

        bench = Bench(context, cell)
        slots = _slots(bench, 4, 3)
        heads, (dim, value_dim) = cell.heads[1], cell.dims
        other = torch.float32 if cell.dtype != "float32" else torch.bfloat16
        keys = noise((4, heads, dim), 5).to(other).to(bench.device)
        values = noise((4, heads, value_dim), 6).to(other).to(bench.device)
        loc = bench.tensor(slots, "int64")
        ask("set_kv_buffer", bench.pool.set_kv_buffer, bench.layers[0], loc, keys, values)
        dtype = bench.geometry.torch_dtype
        equal(bench, 0, slots, keys.to(dtype), values.to(dtype), f"written as {other}")
        for k_scale, v_scale in ((2.0, 0.5), (2.0, None), (None, 0.5)):  # dividing is exact
            try:
                ask(
                    "set_kv_buffer with scales",
                    bench.pool.set_kv_buffer,
                    bench.layers[1],
                    loc,
                    keys.clone(),
                    values.clone(),
                    k_scale,
                    v_scale,
                )
            except SubjectError:
                context.skip_part("the pool refuses scales of keys and values")
                return
            what = f"written as {other} with k_scale {k_scale} and v_scale {v_scale}"
            scaled = (keys / (k_scale or 1)).to(dtype), (values / (v_scale or 1)).to(dtype)
            equal(bench, 1, slots, *scaled, what)
        same = keys.to(dtype), values.to(dtype)
        given = (part.clone() for part in same)
        write = bench.pool.set_kv_buffer
        ask("set_kv_buffer with scales", write, bench.layers[1], loc, *given, 2.0, 0.5)
        equal(bench, 1, slots, *same, "written in the pool's own dtype, where no scale counts")

    each(context, body)


@check(
    "kv-pool.pipeline-ranks-start-at-their-layer",
    3,
    "A pool of the layers from start_layer on stores layer start_layer in its first buffer",
    clauses=("kv-pool-mha/start_layer", "kv-pool-mha/set_kv_buffer"),
    forbids_raising=True,
    why="With pipeline parallelism the second rank's first layer is not layer 0.",
)
def _pipeline(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        start = 3
        pool = ask(
            f"making a pool of layers {start} to {start + LAYERS - 1}",
            context.builder.mha_pool,
            bench.geometry,
            context.subject.kv_pool,
            start_layer=start,
            end_layer=start + LAYERS - 1,
        )
        bench.pool = pool
        bench.fill()
        for index in range(LAYERS):
            slots = _slots(bench, 4, index)
            keys, values = _rows(bench, 4, index * 2)
            layer = context.builder.layer(bench.geometry, start + index)
            loc = bench.tensor(slots, "int64")
            ask("set_kv_buffer", pool.set_kv_buffer, layer, loc, keys, values)
            equal(bench, index, slots, keys, values, f"layer {start + index}, buffer {index}")
            for name, part in (("get_key_buffer", 0), ("get_value_buffer", 1)):
                found = ask(name, getattr(pool, name), start + index)
                expect(
                    found.data_ptr() == bench.buffers(index)[part].data_ptr(),
                    f"{name}({start + index}) of a pool that starts at layer {start} does not give "
                    f"buffer {index}",
                )
        if not _overrides(context):
            return
        keys, values = _rows(bench, 4, 20)
        ask(
            "set_kv_buffer with layer_id_override",
            pool.set_kv_buffer,
            layer,
            loc,
            keys,
            values,
            layer_id_override=start,
        )
        equal(bench, 0, slots, keys, values, f"written with layer_id_override={start}, buffer 0")

    each(context, body)


def _moved(
    bench: Bench, before: tuple[Any, Any], source: list[int], target: list[int], layer: int
) -> None:
    for part, was, now in zip(("keys", "values"), before, bench.raw(layer), strict=True):
        wanted = was.clone()
        wanted[target] = was[source]
        wrong = [int(i) for i in (now != wanted).flatten(1).any(1).nonzero().flatten()]
        where = "a target" if wrong and wrong[0] in target else "another"
        expect(
            not wrong,
            f"after move_kv_cache {len(wrong)} {part} slots of layer {layer} are not what they "
            f"must be; first: {where} slot ({bench.cell.label})",
        )


@check(
    "kv-pool.moves-slots",
    3,
    "move_kv_cache copies slots in every layer and leaves the others alone",
    clauses=("kv-pool-mha/move_kv_cache",),
    forbids_raising=True,
    why="Speculative decoding keeps accepted tokens by moving them.",
)
def _moves(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        method = getattr(bench.pool, "move_kv_cache", None)
        if context.clause("kv-pool-mha/move_kv_cache") is None or method is None:
            raise Inapplicable(f"SGLang {context.release} does not move slots")
        if context.subject.kv_pool is None:
            raise Inapplicable("the plugin uses SGLang's own pool")
        slots = _slots(bench, 6, 9)
        # Apart; and overlapping, as accepted tokens that close up: all is read, then written.
        for source, target in ((slots[:3], slots[3:]), (slots[:4], slots[1:5])):
            before = [bench.raw(layer) for layer in range(LAYERS)]
            ask(
                "move_kv_cache",
                method,
                bench.tensor(target, "int64"),
                bench.tensor(source, "int64"),
            )
            for layer in range(LAYERS):
                _moved(bench, before[layer], source, target, layer)

    each(context, body)
