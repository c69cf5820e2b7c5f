"""Level 3: functions of SGLang with the plugin's hooks on them, held to the textbook.

What a plugin declares is one thing, what it hooks into SGLang another: these checks call the
target as core does, with the hooks that the entry points register around it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from types import SimpleNamespace
from typing import Any

from sglang_contracts.live.build import accepted
from sglang_contracts.live.differences import symbol
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.hooks import needs_plugins
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.served import backend_name, entered
from sglang_contracts.suite.violation import Inapplicable, ask, describe, expect

DRAW = "sglang.srt.layers.sampler.top_k_top_p_min_p_sampling_from_probs_torch"
NORM = "sglang.srt.layers.layernorm.RMSNorm.forward_native"
_ROWS = 1024


def composed(original: Callable[..., Any], hooks: Sequence[Any]) -> Callable[..., Any]:
    """A function with hooks on it, as SGLang's registry applies them: what replaces comes first."""
    made = original
    for kind, hook, *_ in sorted(hooks, key=lambda each: each[0].name != "REPLACE"):
        made = functools.partial(_hooked, kind.name, hook, made)
    return made


def _hooked(kind: str, hook: Any, inner: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if kind == "REPLACE":
        return hook(*args, **kwargs)
    if kind == "AROUND":
        return hook(inner, *args, **kwargs)
    if kind == "BEFORE":
        changed = hook(*args, **kwargs)
        args, kwargs = (args, kwargs) if changed is None else changed
        return inner(*args, **kwargs)
    result = inner(*args, **kwargs)
    changed = hook(result, *args, **kwargs)
    return result if changed is None else changed


def _hooks_on(context: Context, target: str) -> list[Any]:
    needs_plugins(context)
    with entered(context.subject) as there:
        found = list(there.hooks.get(target, ()))
    if not found:
        raise Inapplicable(f"the plugin hooks nothing on {target.removeprefix('sglang.srt.')}")
    return found


@check(
    "hooks.sampling-keeps-its-parameters",
    3,
    "SGLang's draw from probabilities, with the plugin's hooks on it, keeps each row's parameters",
    clauses=("plugin-loading/register", "sampling/top_ps", "sampling/top_ks", "sampling/min_ps"),
    forbids_raising=True,
    why="The hook is what is served: a parameter that it drops is dropped for every request.",
)
def _draw(context: Context) -> None:
    import torch

    hooks = _hooks_on(context, DRAW)
    original = symbol(DRAW.rpartition(".")[0] + ":" + DRAW.rpartition(".")[2])
    draw = composed(original, hooks)
    probs = torch.tensor([0.05, 0.35, 0.1, 0.3, 0.2])
    order = [1, 3, 4, 2, 0]
    everything = 1 << 30
    rows: list[tuple[int, float, float, int]] = [
        # top_k, top_p, min_p, how many of the likeliest may be drawn
        (everything, 1.0, 0.0, 5),
        (2, 1.0, 0.0, 2),
        (1, 1.0, 0.0, 1),
        (everything, 0.6, 0.0, 2),
        (everything, 0.9, 0.0, 4),
        (everything, 1.0, 0.5, 3),
        (3, 0.8, 0.0, 3),
        (4, 0.5, 0.2, 2),
    ]
    for mixed in (False, True):
        for number, row in enumerate(rows):
            batch = rows if mixed else [row]
            found = _drawn(context, draw, original, probs, batch, _ROWS // len(batch))
            mine = set(found[number :: len(rows)] if mixed else found)
            allowed = set(order[: row[3]])
            where = f"row {number} of a mixed batch" if mixed else "a batch of one kind"
            expect(
                mine == allowed,
                f"with top_k {row[0]}, top_p {row[1]}, min_p {row[2]} in {where}, the hooked draw "
                f"gives {len(mine - allowed)} tokens that are not allowed and never "
                f"{len(allowed - mine)} of the {len(allowed)} that are",
            )
    # Seeded draws may stay SGLang's, whose kernel a CPU has not: a plain one stands in for it.
    seeded = composed(_seeded, hooks)
    once = [_drawn(context, seeded, original, probs, rows[:1], 64, seed) for seed in (3, 3, 4)]
    if "sampling_seed" in accepted(original, {"sampling_seed": None}):
        expect(once[0] == once[1], "the hooked draw gives other tokens for the same sampling_seed")
        expect(once[0] != once[2], "the hooked draw takes no notice of sampling_seed")


def _seeded(probs: Any, *args: Any, **kwargs: Any) -> Any:
    """A draw by seed and position alone, whatever the parameters: in place of SGLang's own."""
    import torch

    given = (
        dict(zip(("ks", "ps", "min_ps", "need", "sampling_seed", "positions"), args, strict=False))
        | kwargs
    )
    made = []
    for row, seed, at in zip(
        probs, given["sampling_seed"].tolist(), given["positions"].tolist(), strict=True
    ):
        dice = torch.Generator().manual_seed(seed * 7919 + at)
        made.append(torch.multinomial(row, 1, generator=dice))
    return torch.cat(made).to(torch.int32)


def _drawn(
    context: Context,
    draw: Callable[..., Any],
    original: Callable[..., Any],
    probs: Any,
    rows: Sequence[tuple[int, float, float, int]],
    times: int,
    seed: int | None = None,
) -> list[int]:
    import torch

    count = len(rows) * times
    values: Mapping[str, Any] = {
        "probs": probs.repeat(count, 1),
        "top_ks": torch.tensor([row[0] for row in rows] * times, dtype=torch.int32),
        "top_ps": torch.tensor([row[1] for row in rows] * times),
        "min_ps": torch.tensor([row[2] for row in rows] * times),
        "need_min_p_sampling": any(row[2] for row in rows),
        "sampling_seed": None if seed is None else torch.full((count,), seed, dtype=torch.int64),
        "positions": torch.arange(count),
    }
    torch.manual_seed(context.seed + 1)
    given = accepted(original, dict(values))
    found = ask("the hooked draw", draw, **given)
    expect(
        hasattr(found, "dtype") and tuple(found.shape) == (count,),
        f"the hooked draw from {count} rows gives {describe(found)}, not one token id a row",
    )
    return [int(token) for token in found.tolist()]


def _textbook(
    norm: Any,
    x: Any,
    residual: Any = None,
    post_residual_addition: Any = None,
    *more: Any,
    **options: Any,
) -> Any:
    """RMSNorm in float64; with a residual also the sum, which the next layer takes."""
    import torch

    total = x.double() if residual is None else x.double() + residual.double()
    if post_residual_addition is not None:
        total = total + post_residual_addition.double()
    size = total[..., : norm.variance_size_override].pow(2).mean(-1, keepdim=True)
    out = total / (size + norm.variance_epsilon).sqrt() * norm.weight.double()
    out = out.to(x.dtype)
    kept = torch.float32 if norm.fp32_residual else x.dtype
    return out if residual is None else (out, total.to(kept))


def _variants(forward: Callable[..., Any]) -> None:
    """Hold norms that the models have and a kernel may lack to the textbook, too."""
    import torch

    generator = torch.Generator().manual_seed(10)
    takes = accepted(symbol("sglang.srt.layers.layernorm:RMSNorm").forward_native, _MORE)
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("with a residual in float32", {"fp32_residual": True}),
        ("over a part of the row", {"variance_size_override": 24}),
        *([("with an addition after the residual", dict[str, Any]())] if takes else []),
    )
    for what, change in kinds:
        x, residual, addition = (
            torch.randn(5, 64, generator=generator).to(torch.bfloat16) for _ in range(3)
        )
        norm = SimpleNamespace(**{**_PLAIN, "weight": torch.ones(64).to(x.dtype), **change})
        norm.hidden_size = 64
        given = (x, residual) if change else (x, residual, addition)
        wanted = _textbook(norm, *given)
        found = ask(f"the hooked RMSNorm {what}", forward, norm, *(part.clone() for part in given))
        for got, right in zip(found, wanted, strict=True):
            expect(
                got.dtype == right.dtype and bool(torch.allclose(got, right, 4e-2, 4e-2)),
                f"the hooked RMSNorm {what} gives {describe(got)}, which is not the textbook's "
                f"{describe(right)}",
            )


_MORE = {"post_residual_addition": None}
_PLAIN: dict[str, Any] = {
    "variance_epsilon": 1e-6,
    "has_weight": True,
    "fp32_residual": False,
    "cast_x_before_out_mul": False,
    "variance_size_override": None,
    "override_orig_dtype": None,
}


TRITON = "sglang.srt.utils.common.support_triton"


@check(
    "hooks.triton-is-answered",
    1,
    "Where the backend has no Triton, SGLang's question by name is answered so, too",
    clauses=("platform/support_triton",),
    forbids_raising=True,
    why="A list of names decides until 0.5.21, then the platform's capabilities: core launches it.",
)
def _triton(context: Context) -> None:
    needs_plugins(context)
    bench = Bench(context, context.cells()[0], looks=False, filled=False)
    answer = getattr(bench.backend, "support_triton", None)
    if answer is None or ask("support_triton()", answer):
        raise Inapplicable(f"the backend does not say on SGLang {context.release}: no Triton")
    with entered(context.subject) as there:
        name = backend_name(context.subject, there.platform)
        hooks = list(there.hooks.get(TRITON, ()))
        able = getattr(there.platform, "capabilities", None)
    if context.since("0.5.22"):
        expect(
            not getattr(able, "supports_triton", False),
            "the backend says that it has no Triton, and the platform's capabilities say that it "
            "has: core launches it",
        )
        return
    asked = composed(lambda backend: True, hooks)
    expect(
        not ask("the hooked support_triton", asked, name),
        f"the backend says that it has no Triton, and support_triton({name!r}) is true for core: "
        "hook it",
    )


@check(
    "hooks.norms-equal-the-textbook",
    3,
    "RMSNorm with the plugin's hooks on it equals the textbook, with and without a residual",
    clauses=("plugin-loading/register",),
    forbids_raising=True,
    why="It runs twice a layer: a wrong epsilon or a lost residual is another model.",
)
def _norm(context: Context) -> None:
    import torch

    forward = composed(_textbook, _hooks_on(context, NORM))
    _variants(forward)
    generator = torch.Generator().manual_seed(9)
    for dtype, eps in ((torch.float32, 1e-6), (torch.bfloat16, 1e-5), (torch.float32, 0.1)):
        for rows, width in ((1, 8), (5, 64), (0, 16), (3, 1030)):
            norm = SimpleNamespace(
                **{**_PLAIN, "variance_epsilon": eps},
                weight=torch.rand(width, generator=generator) + 0.5,
                hidden_size=width,
            )
            norm.weight = norm.weight.to(dtype)
            x = torch.randn(rows, width, generator=generator).to(dtype)
            residual = torch.randn(rows, width, generator=generator).to(dtype)
            for beside in (None, residual):
                what = "RMSNorm" + (" with a residual" if beside is not None else "")
                given = (copy(norm), x.clone(), *(() if beside is None else (beside.clone(),)))
                wanted = _textbook(norm, x, beside)
                found = ask(f"the hooked {what}", forward, *given)
                other = (copy(norm), -x, *(() if beside is None else (-beside,)))
                ask(f"the hooked {what} once more", forward, *other)  # as of queries, then keys
                pairs = (
                    [(found, wanted)] if beside is None else list(zip(found, wanted, strict=True))
                )
                for got, right in pairs:
                    expect(
                        got.shape == right.shape and got.dtype == right.dtype,
                        f"the hooked {what} of {describe(x)} gives {describe(got)}",
                    )
                    if not rows:
                        continue
                    error = (got.double() - right.double()).abs()
                    most = 1e-4 if dtype is torch.float32 else 4e-2
                    expect(
                        bool((error <= most * (1 + right.double().abs())).all()),
                        f"the hooked {what} of {describe(x)} differs from the textbook by "
                        f"{float(error.max()):.3g}, epsilon {eps}",
                    )


@check(
    "weights.served-method-equals-dequantised-product",
    3,
    "The platform's quantisation loads a layer and multiplies by the dequantised weight, plus bias",
    clauses=("platform/get_quantization_config", "quantization/LinearMethodBase.apply"),
    forbids_raising=True,
    why="SGLang calls this method, not the function that is declared: a bias lost here is lost.",
)
def _quantised(context: Context) -> None:
    import torch

    needs_plugins(context)
    with entered(context.subject) as there:
        method = getattr(there.platform, "get_quantization_config", None)
        if context.clause("platform/get_quantization_config") is None or method is None:
            raise Inapplicable(f"SGLang {context.release} asks no platform for quantisations")
        config = ask("get_quantization_config('w8a8_int8')", method, "w8a8_int8")
    if config is None:
        raise Inapplicable("the platform brings no quantisation 'w8a8_int8'")
    base = symbol("sglang.srt.layers.linear:LinearBase")
    generator = torch.Generator().manual_seed(6)
    sizes = (
        (3, 32, 12, torch.float32),
        (5, 64, 8, torch.bfloat16),
        (517, 16, 8, torch.float32),
        (4, 32, 32, torch.float32),  # square, as an output projection's
    )
    for rows, width, out, dtype in sizes:
        layer = type("Layer", (base,), {"__init__": torch.nn.Module.__init__})()
        weight = torch.randint(-127, 128, (out, width), generator=generator).to(torch.int8)
        scale = torch.rand(out, 1, generator=generator) * 0.02 + 0.001
        layer.weight = torch.nn.Parameter(weight.clone(), requires_grad=False)
        layer.weight_scale = torch.nn.Parameter(scale.clone(), requires_grad=False)
        made = ask(
            "get_quant_method", ask("making it", config).get_quant_method, layer, "model.layers.0"
        )
        expect(
            callable(getattr(made, "apply", None)),
            f"get_quant_method gives {type(made).__name__} for a linear layer: it has no apply()",
        )
        ask("process_weights_after_loading", made.process_weights_after_loading, layer)
        x = torch.randint(-126, 127, (rows, width), generator=generator).float()
        x[:, 0] = 127
        x = (x / 64).to(dtype)
        bias = torch.randn(out, generator=generator).to(dtype)
        for beside in (None, bias):
            found = ask("apply", made.apply, layer, x.clone(), beside)
            wanted = x.double() @ (weight.double() * scale.double()).t()
            wanted += 0 if beside is None else beside.double()
            expect(
                tuple(found.shape) == (rows, out) and found.dtype == dtype,
                f"apply of {describe(x)} gives {describe(found)}, not {dtype} [{rows}, {out}]",
            )
            error = (found.double() - wanted).abs() / wanted.abs().amax(1, keepdim=True)
            expect(
                float(error.max()) <= (1e-4 if dtype is torch.float32 else 1e-2),
                f"apply{' with a bias' if beside is not None else ''} differs by "
                f"{float(error.max()):.2g} of the row's largest value from x times the dequantised "
                f"weight; worst in output channel {int(error.argmax()) % out} of {out}",
            )
