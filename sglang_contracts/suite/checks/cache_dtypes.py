"""Caches of another dtype than the model's, where they are declared; and others, refused."""

from __future__ import annotations

import dataclasses
from typing import Any

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.capabilities import CACHE_DTYPES
from sglang_contracts.suite.checks.latent import is_refusal
from sglang_contracts.suite.checks.passes import decode, extend, mixed, modes_of, prefix
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Script
from sglang_contracts.suite.violation import Inapplicable, SubjectError, expect

_SCALES = (2.0, 0.5)
"""Of keys and of values: dividing by them is exact."""


def _scripts(context: Context, cell: Cell) -> list[Script]:
    """Prefill, decode, and what stands on cached keys, as far as it is declared."""
    declared = context.subject.capabilities
    makers = [extend]
    if declared.prefix_cache:
        makers.append(prefix)
    if "decode" in declared.modes:
        makers.append(decode)
    if modes_of(context, "mixed"):
        makers.append(mixed)
    return [make(cell) for make in makers]


def _run(context: Context, script: Script, scaled: bool) -> None:
    bench = Bench(context, script.cell, script.seed, looks=False)
    if scaled:
        for layer in bench.layers:
            _scale(bench, layer)
    for turn in script.turns:
        for done in bench.run(turn):
            bench.compare(done, "the scaled result" if scaled else "the result")


def _scale(bench: Bench, layer: Any) -> None:
    """Give a layer scales of keys and values, as a checkpoint with a quantised cache does."""
    for name, value in zip(("k_scale", "v_scale"), _SCALES, strict=True):
        setattr(layer, name, bench.tensor([value], "float32")[0])
        setattr(layer, f"{name}_float", value)


@check(
    "attention-backend.cache-dtypes-equal-the-oracle",
    3,
    "Attention over a cache of another dtype than the queries', scaled or not, equals float64",
    needs=("cache-dtypes",),
    clauses=("kv-pool-mha/set_kv_buffer", "radix-attention/k_scale"),
    forbids_raising=True,
    why="--kv-cache-dtype halves the cache: bits read as another dtype are noise.",
)
def _declared(context: Context) -> None:
    cells = [
        dataclasses.replace(cell, cache=cache)
        for cell in context.page_cells(latent=False)
        for cache in context.subject.capabilities.cache_dtypes
        if cache != cell.dtype
    ]
    if not cells:
        raise Inapplicable("each declared dtype of the cache is the queries' own")

    def body(script: Script) -> None:
        _run(context, script, scaled=False)
        if script.cell.cache.startswith("float8"):
            _run(context, script, scaled=True)

    context.explore([each for cell in cells for each in _scripts(context, cell)], None, body)


@check(
    "attention-backend.undeclared-cache-dtypes-are-refused",
    2,
    "A cache of a dtype that is not declared is refused with a sentence, or served rightly",
    clauses=("kv-pool-mha/set_kv_buffer", "kv-pool-mha/dtype"),
    why="Bytes of eight bits that are read as numbers give a fluent wrong answer.",
)
def _undeclared(context: Context) -> None:
    declared = context.subject.capabilities
    first = context.cells(latent=False)[0]
    for cache in CACHE_DTYPES:
        if cache in declared.cache_dtypes or cache == first.dtype:
            continue
        cell = dataclasses.replace(first, cache=cache)
        try:
            for script in _scripts(context, cell):
                _run(context, script, scaled=False)
        except SubjectError as error:
            expect(
                is_refusal(error.cause),
                f"a cache of {cache} under queries of {first.dtype}, which the plugin does not "
                f"declare, is not refused: {error.why()} is an accident. Raise "
                "NotImplementedError or ValueError with a sentence",
            )
