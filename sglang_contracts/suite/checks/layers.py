"""Layers that are not plain causal attention, and data that are not of unit variance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sglang_contracts.live.differences import symbol
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.oracle import TOLERANCE
from sglang_contracts.suite.passes import Pass
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import Inapplicable, SubjectError, Violation, expect
from sglang_contracts.suite.watched import LAYERS

_CAP = 1.5
_LARGE_CAP = 50.0
"""Gemma's: it counts where scores are large, so the layer is given loud data."""
_LOUDER = 6.0
_SINK = 1.25
_WINDOW = 2
_LOUD = 100.0
_DEEP = 46
"""A layer's number on the last pipeline rank of a model of 48 layers."""

_KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # name: (keywords of the layer, keywords of the oracle)
    "logit cap": ({"logit_cap": _CAP}, {"cap": _CAP}),
    "large logit cap": ({"logit_cap": _LARGE_CAP}, {"cap": _LARGE_CAP}),
    "attention both ways": ({"attn_type": "ENCODER_ONLY"}, {"causal": False}),
    "attention sinks": ({}, {}),
    "cross attention": ({"is_cross_attention": True}, {}),
    "sliding window": ({"sliding_window_size": _WINDOW}, {}),
}


def _layer_of(kind: str) -> dict[str, Any]:
    """The layer's keywords, with SGLang's own enumeration in them."""
    options: dict[str, Any] = dict(_KINDS[kind][0])
    name = options.get("attn_type")
    if name is not None:
        try:
            options["attn_type"] = symbol("sglang.srt.layers.radix_attention:AttentionType")[name]
        except (ImportError, AttributeError, KeyError):
            raise Inapplicable(f"layers of this release know no {kind}") from None
    return options


def _holds(layer: Any, options: Mapping[str, Any]) -> bool:
    """Whether the release's layer has taken the keywords."""
    return all(getattr(layer, name, None) == value for name, value in options.items())


def _turns(context: Context, kind: str) -> list[Turn]:
    found = [Turn("extend", ((0, 5), (1, 3)))]
    if kind == "attention both ways":
        return found  # encoders prefill only, without a prefix
    if context.subject.capabilities.prefix_cache:
        found.append(Turn("extend", ((1, 2), (0, 3))))
    if "decode" in context.subject.capabilities.modes:
        found.append(Turn("decode", ((0, 1), (1, 1))))
    return found


@check(
    "attention-backend.layers-are-obeyed-or-refused",
    3,
    "Logit cap, sinks, both-way and cross attention are computed, or refused: never left out",
    needs=("mode:extend",),
    clauses=(
        "radix-attention/logit_cap",
        "radix-attention/attn_type",
        "radix-attention/is_cross_attention",
        "radix-attention/sliding_window_size",
    ),
    why="A model that asks for what the kernel ignores answers, fluently and wrongly.",
)
def _kinds(context: Context) -> None:
    def body(example: tuple[str, Cell]) -> None:
        kind, cell = example
        options = _layer_of(kind)
        loud = _LOUDER if kind == "large logit cap" else 1.0
        bench = Bench(context, cell, looks=False, layer=options, loud=loud)
        if not _holds(bench.layers[0], options):
            raise Inapplicable(f"layers of this release know no {kind}")
        more: dict[str, Any] = {}
        bench.oracle = dict(_KINDS[kind][1])
        if kind == "attention sinks":
            scores = [_SINK * (head % 3 - 1) for head in range(cell.heads[0])]
            more["sinks"] = bench.tensor(scores, "float32")
            bench.oracle = {"sinks": scores}
        if kind == "sliding window":
            bench.window = _WINDOW
        for turn in _turns(context, kind):
            step = bench.step(turn)
            for layer in range(LAYERS):
                done = _unless_refused(bench, step, layer, more)
                if done is None:
                    bench.store(step, layer)
                elif kind == "cross attention":
                    _is_other(bench, done)
                else:
                    bench.compare(done, f"a layer with {kind}")

    kinds = [kind for kind in _KINDS if kind != "sliding window"]
    if not context.subject.capabilities.sliding_window:
        kinds.append("sliding window")  # where it is declared, a check of its own has it
    cells = context.cells()
    simplest = [cells[0], *(c for c in cells if c.page_size != cells[0].page_size)][:2]
    context.explore([(kind, cell) for kind in kinds for cell in simplest], None, body)


def _unless_refused(bench: Bench, step: Any, layer: int, more: Mapping[str, Any]) -> Pass | None:
    """The pass; None where the backend says, by raising, that it does not serve such a layer."""
    try:
        if layer == 0:
            bench.prepare(step)
        return bench.attend(step, layer, more=more)
    except SubjectError:
        return None


def _is_other(bench: Bench, done: Pass) -> None:
    """A batch without an encoder's keys cannot be served; the rows' own keys are not meant."""
    try:
        bench.compare(done)
    except Violation:
        return
    raise Violation(
        f"a cross-attention layer without encoder keys is computed as causal self-attention "
        f"({done.step.mode}, layer {done.layer}, {bench.cell.label})"
    )


@check(
    "attention-backend.later-pipeline-ranks-are-served",
    3,
    "A rank whose first layer is not layer 0 gives the right results, batch after batch",
    needs=("mode:extend", "mode:decode"),
    clauses=("radix-attention/layer_id", "kv-pool-mha/start_layer"),
    forbids_raising=True,
    why="What is done once a batch, in layer 0, is never done on the second pipeline rank.",
)
def _later(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False, first=_DEEP)
        for turn in (
            Turn("extend", ((0, 4), (1, 7))),
            Turn("extend", ((2, 5),)),
            Turn("decode", ((1, 1), (0, 1))),
            Turn("decode", ((2, 1), (1, 1))),
        ):
            for done in bench.run(turn):
                bench.compare(done, "the result on a later pipeline rank")

    context.explore(context.cells(), None, body)


@check(
    "attention-backend.results-are-the-callers",
    3,
    "A result stays what it is while the pass's further layers run",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="A workspace handed out as the result is overwritten before it has been used.",
)
def _kept(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False)
        turns = [Turn("extend", ((0, 4), (1, 3)))]
        if "decode" in context.subject.capabilities.modes:
            turns += [Turn("decode", ((1, 1), (0, 1)))] * 2
        for turn in turns:
            for done in bench.run(turn):  # all layers have run by now
                bench.compare(done, "a result, looked at again after later layers,")

    context.explore(context.cells(), None, body)


@check(
    "attention-backend.large-scores-stay-finite",
    3,
    "Large queries and keys give finite results within the range of the values",
    needs=("mode:extend",),
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="Some models' keys are large: a softmax that overflows ends an answer in NaN.",
)
def _loud(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, looks=False, loud=_LOUD)
        turns = [Turn("extend", ((0, 9), (1, 4)))]
        if context.subject.capabilities.prefix_cache:
            turns.append(Turn("extend", ((1, 5), (0, 3))))
        if "decode" in context.subject.capabilities.modes:
            turns += [Turn("decode", ((0, 1), (1, 1)))] * 2
        for turn in turns:
            for done in bench.run(turn):
                _within(bench, done)

    context.explore(context.cells(), None, body)


def _within(bench: Bench, done: Pass) -> None:
    """Each result lies between the smallest and the largest value that its query sees."""
    import numpy

    with bench.context.unobserved():
        found = done.out.detach().to("cpu").double().numpy()
    where = f"({done.step.mode}, layer {done.layer}, {bench.cell.label})"
    lost = int((~numpy.isfinite(found)).sum())
    expect(not lost, f"with large scores {lost} of {found.size} results are not finite {where}")
    heads, kv_heads = bench.cell.heads
    found = found.reshape(len(found), heads, -1)
    row = 0
    for request, start, count in zip(
        done.step.requests, done.step.starts, done.step.counts, strict=True
    ):
        values = request.v[done.layer].double().numpy()
        for position in range(start, start + count):
            seen = values[: position + 1].repeat(heads // kv_heads, axis=1)
            allowed = TOLERANCE[bench.cell.dtype]
            inside = (found[row] >= seen.min(0) - allowed) & (found[row] <= seen.max(0) + allowed)
            expect(
                bool(inside.all()),
                f"with large scores a result is outside the range of its values: request "
                f"{request.number}, position {position} {where}",
            )
            row += 1
