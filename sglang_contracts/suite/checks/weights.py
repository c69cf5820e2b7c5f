"""Quantised weights: unpacked exactly, scaled by the right channel."""

from __future__ import annotations

import itertools
from typing import Any

from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.violation import Inapplicable, ask, describe, expect


def _weight(rows: int, width: int, seed: int) -> Any:
    """int8 ``[rows, width]`` with the extremes in it."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    weight = torch.randint(-128, 128, (rows, width), generator=generator, dtype=torch.int16)
    weight[0, :4] = torch.tensor([-128, -1, 127, 1])
    return weight.to(torch.int8)


def pack(weight: Any) -> Any:
    """int8 ``[N, K]`` → int32 ``[N, K / 4]``, the lowest byte first."""
    import numpy
    import torch

    words = numpy.ascontiguousarray(weight.numpy()).view("<i4")
    return torch.from_numpy(words.copy())


@check(
    "weights.packed-words-unpack-exactly",
    3,
    "int32 words unpack to the int8 weights that were packed, signs included",
    needs=("quantization",),
    clauses=("quantization/BASE_QUANTIZATION_METHODS-w8a8_int8",),
    forbids_raising=True,
    why="A sign lost or two bytes swapped gives fluent nonsense.",
)
def _unpack(context: Context) -> None:
    import torch

    if context.subject.unpack is None:
        raise Inapplicable("the plugin declares no 'quantization.unpack'")
    for rows, width, seed in ((1, 4, 1), (3, 8, 2), (16, 64, 3)):
        weight = _weight(rows, width, seed)
        words = pack(weight)
        found = ask("unpack", context.subject.unpack, words)
        expect(
            str(found.dtype) == "torch.int8" and tuple(found.shape) == (rows, width),
            f"unpacking int32[{rows}, {width // 4}] gives {describe(found)}, not int8 "
            f"[{rows}, {width}]",
        )
        wrong = int((found != weight).sum())
        expect(
            torch.equal(found, weight),
            f"{wrong} of {weight.numel()} weights are not what was packed",
        )
        expect(torch.equal(words, pack(weight)), "unpacking changes the packed words in place")


def _rounding(subject: Any, weight: Any, prepared: Any, scale: Any, width: int) -> None:
    """Activations that are no whole steps cost what rounding to the nearest costs, not more."""
    import torch

    x = torch.randn(64, width, generator=torch.Generator().manual_seed(12))
    step = x.abs().amax(1, keepdim=True) / 127
    exact = x.double() @ (weight.double() * scale.double()[:, None]).t()
    nearest = (x / step).round().double() * step.double()
    least = nearest @ (weight.double() * scale.double()[:, None]).t() - exact
    found = ask("linear", subject.linear, x, weight, prepared, None).double() - exact
    expect(
        bool(torch.isfinite(found).all()) and float(found.norm()) <= 1.5 * float(least.norm()),
        f"int8 activations of {width} channels cost {float(found.norm() / least.norm()):.3g} times "
        "what rounding them to the nearest step costs",
    )


@check(
    "weights.linear-equals-dequantised-product",
    3,
    "The int8 product equals x times the dequantised weight, channel by channel",
    needs=("quantization",),
    clauses=("quantization/LinearMethodBase.apply",),
    forbids_raising=True,
    why="A scale off by one part in 128 costs accuracy that no smoke test sees.",
)
def _linear(context: Context) -> None:
    import torch

    subject = context.subject
    if subject.linear is None:
        raise Inapplicable("the plugin declares no 'quantization.linear'")
    generator = torch.Generator().manual_seed(4)
    cases = [(1, 16, 8, False), (5, 32, 12, True), (7, 64, 3, True), (3, 1040, 20, True)]
    cases.append((0, 16, 8, True))  # a rank that has no tokens
    cases.append((517, 16, 8, True))  # beyond two tiles of 256 rows, and no multiple
    dtypes = (torch.float32, torch.bfloat16)
    for (rows, width, out, with_bias), dtype in itertools.product(cases, dtypes):
        # Whole numbers whose largest is 127 in every row: quantising them is exact.
        x = torch.randint(-126, 127, (rows, width), generator=generator).float()
        x[:, 0] = 127
        x *= (2.0 ** (torch.arange(rows) % 8))[:, None] / 64
        if rows > 2:
            x[1] = 0  # a padding row: nothing may be divided by its largest value
        whole = torch.cat([x, x + 1], 1).to(dtype)  # rows of a wider tensor: not adjacent
        x = whole[:, :width]
        weight = _weight(out, width, out).clamp(min=-127)
        scale = torch.rand(out, generator=generator) * 0.02 + 0.001
        bias = torch.randn(out, generator=generator) if with_bias else None
        prepared = scale if subject.scales is None else ask("scales", subject.scales, scale)
        kept = [each.clone() for each in (weight, scale, prepared, x)]
        found = ask("linear", subject.linear, x, weight, prepared, bias)
        for name, was, now in zip(
            ("weight", "checkpoint's scales", "prepared scales", "activations"),
            kept,
            (weight, scale, prepared, x),
            strict=True,
        ):
            expect(torch.equal(was, now), f"the product changes the {name} in place")
        expect(
            tuple(found.shape) == (rows, out) and found.dtype == x.dtype,
            f"linear gives {describe(found)}, not {x.dtype} [{rows}, {out}]",
        )
        if not rows:
            continue
        wanted = x.double() @ (weight.double() * scale.double()[:, None]).t()
        if bias is not None:
            wanted += bias.double()
        expect(bool(torch.isfinite(found).all()), "the product of a row of zeros is not finite")
        error = (found.double() - wanted).abs() / wanted.abs().amax(1, keepdim=True).clamp(min=1e-6)
        worst = float(error.max())
        expect(
            worst <= (1e-4 if dtype is torch.float32 else 1e-2),
            f"the product differs by {worst:.2g} of the row's largest value from x times the "
            f"dequantised weight; worst in row {int(error.argmax()) // out} of {rows}, output "
            f"channel {int(error.argmax()) % out} of {out}",
        )
        _rounding(subject, weight, prepared, scale, width)
        if rows % 2 == 0:
            continue
        deep = ask("linear of three dims", subject.linear, x[None], weight, prepared, bias)
        expect(
            tuple(deep.shape) == (1, rows, out),
            f"linear of [1, {rows}, {width}] gives {describe(deep)}, not [1, {rows}, {out}]",
        )
