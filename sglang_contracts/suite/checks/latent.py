"""Latent attention (MLA), where it is declared; and pools that are not declared, refused."""

from __future__ import annotations

import dataclasses
import linecache
import traceback

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.capabilities import POOL_KINDS
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.passes import Step, noise
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.served import platform_class, pool_class
from sglang_contracts.suite.violation import (
    Inapplicable,
    SubjectError,
    ask,
    describe,
    expect,
    said,
)
from sglang_contracts.suite.watched import LAYERS

_HEAD = (24, 16)
"""Head dims of uncompressed queries and keys, and of values: as a model's, they differ."""


@check(
    "latent-attention.uncompressed-prefill-equals-the-oracle",
    3,
    "A prefill of uncompressed heads over a pool of latent keys equals float64 attention",
    needs=("pool:mla", "mode:extend"),
    clauses=("attention-backend/forward_extend", "kv-pool-mla/set_mla_kv_buffer"),
    forbids_raising=True,
    why="DeepSeek's model prefills without a prefix that way: the pool holds what is not given.",
)
def _uncompressed(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        plain = dataclasses.replace(cell, heads=(cell.heads[0],) * 2, dims=_HEAD, latent=0)
        for turn in (
            Turn("extend", ((0, min(cell.page_size, 64) + 1), (1, 3), (2, 1))),
            Turn("extend", ((3, 5),)),
        ):
            step = bench.step(turn)
            bench.prepare(step)
            for layer in range(LAYERS):
                bench.store(step, layer)  # as the model does, by the pool's own method
                _prefill(bench, plain, step, layer)

    context.explore(context.latent_cells(), None, body)


def _prefill(bench: Bench, plain: Cell, step: Step, layer: int) -> None:
    """One layer of uncompressed heads: nothing is saved, each request sees its own keys."""
    import numpy

    from sglang_contracts.suite import oracle

    heads, (dim, value_dim) = plain.heads[0], plain.dims
    total, dtype = len(step.loc), bench.geometry.torch_dtype
    q, k, v = (
        noise((total, heads, width), 50 + layer * 3 + part).to(dtype)
        for part, width in enumerate((dim, dim, value_dim))
    )
    geometry = dataclasses.replace(
        bench.geometry, num_kv_heads=heads, head_dim=dim, v_head_dim=value_dim
    )
    made = bench.builder.layer(geometry, layer)
    with bench.serving(step), bench.context.observed():
        out = ask(
            f"prefill of {total} tokens with {heads} uncompressed heads ({bench.cell.label})",
            made,
            q.flatten(1).to(bench.device),
            k.to(bench.device),
            v.to(bench.device),
            step.batch,
            save_kv_cache=False,
        )
    wanted, begin = [], 0
    for count in step.counts:
        rows = slice(begin, begin + count)
        queries, keys, values = (part[rows].double().numpy() for part in (q, k, v))
        wanted.append(oracle.attention(queries, keys, values, dim**-0.5).reshape(count, -1))
        begin += count
    expected = numpy.concatenate(wanted)
    expect(
        tuple(out.shape) == expected.shape,
        f"a prefill of uncompressed heads gives {describe(out)}, expected shape "
        f"{list(expected.shape)} (layer {layer}, {bench.cell.label})",
    )
    with bench.context.unobserved():
        found = out.detach().to("cpu").double().numpy()
    over = numpy.abs(found - expected) / oracle.allowed(expected, bench.cell.dtype)
    if numpy.isfinite(found).all() and over.max() <= 1:
        return
    token = int(numpy.nan_to_num(over, nan=numpy.inf).max(axis=1).argmax())
    number, position = bench.owner(step, token)
    expect(
        False,
        f"a prefill of uncompressed heads differs from the float64 oracle: request {number}, "
        f"position {position}, slot {step.loc[token]}, layer {layer} ({bench.cell.label})",
    )


@check(
    "attention-backend.undeclared-pools-are-refused",
    2,
    "A pool of a kind that is not declared is refused with a sentence, or served rightly",
    clauses=("attention-backend/forward_extend", "platform/get_mla_kv_pool_cls"),
    why="A model with latent attention on heads' kernels answers fluently, and wrongly.",
)
def _undeclared(context: Context) -> None:
    declared = context.subject.capabilities
    missing = [kind for kind in POOL_KINDS if kind not in declared.pool_kinds]
    if not missing:
        raise Inapplicable(
            f"SGLang {context.release} has no kind of pool that is tried and not declared"
        )
    first = context.cells()[0]
    for kind in missing:
        cell = _cell_of(first, kind)
        try:
            _asked(context, kind)
            bench = Bench(context, cell, looks=False)
            for turn in (Turn("extend", ((0, 5), (1, 2))), Turn("decode", ((0, 1), (1, 1)))):
                if turn.mode in declared.modes:
                    for done in bench.run(turn):
                        bench.compare(done, f"the result over a pool of kind {kind}")
        except SubjectError as error:
            expect(
                is_refusal(error.cause),
                f"a pool of kind {kind}, which the plugin does not declare, is not refused: "
                f"{error.why()} is an accident. Raise NotImplementedError with a sentence",
            )


def _asked(context: Context, kind: str) -> None:
    """Ask the platform for its pool of that kind, as core does: it may refuse there already."""
    subject = context.subject
    if not context.builder.differences.has_platforms or (
        subject.activate is None and subject.platform is None
    ):
        return
    platform = ask("making the platform", platform_class(subject))
    if hasattr(platform, "get_kv_pool_cls"):
        pool_class(platform, kind)
    else:  # before 0.5.22 the base's own raises: a plugin without the hook serves no such model
        hook = f"get_{kind}_kv_pool_cls"
        ask(f"{hook}()", getattr(platform, hook))


def _cell_of(cell: Cell, kind: str) -> Cell:
    """The cell with a pool of another kind."""
    if kind == "mla":
        return dataclasses.replace(cell, heads=(cell.heads[0], 1), dims=(48, 32), latent=32)
    return dataclasses.replace(cell, dims=(16, 16), latent=0)


_ACCIDENTS = (AttributeError, LookupError, NameError, TypeError, ImportError, ArithmeticError)


def is_refusal(error: BaseException) -> bool:
    """Whether somebody has meant it: a ``raise`` with a text, no accident of a wrong shape."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, NotImplementedError):
        return True
    if isinstance(error, _ACCIDENTS) or not said(error) or not frames:
        return False
    line = linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
    return line.startswith("assert " if isinstance(error, AssertionError) else "raise ")
