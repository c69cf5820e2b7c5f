"""An int8 checkpoint's weights, unpacked for the Kunlun matrix product.

A linear layer's weight comes as int8 `[N, K]` with one float32 scale for each output channel, or
with four int8 in each int32 word, lowest byte first, `[N, K / 4]`. The kernels want int8 and, for
each channel, the largest magnitude that 127 stands for.
"""

from __future__ import annotations

import torch

from kunlun_backend import sdk

INT8_LIMIT = 127.0
PACKED = 4  # int8 values in an int32 word


def unpack_words(words: torch.Tensor) -> torch.Tensor:
    """int32 `[N, K / 4]` → int8 `[N, K]`; the lowest byte of a word comes first."""
    shifts = torch.arange(0, 8 * PACKED, 8, dtype=torch.int32, device=words.device)
    # Up and down again in 32 bits: the arithmetic shift back extends the byte's sign.
    values = ((words.unsqueeze(-1) >> shifts) << 24) >> 24
    return values.to(torch.int8).flatten(-2)


def channel_max(scale: torch.Tensor) -> torch.Tensor:
    """Scales float `[N]` or `[N, 1]` → float32 `[N]`, the magnitude that 127 stands for."""
    return scale.reshape(-1).float() * INT8_LIMIT


def int8_linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    weight_max: torch.Tensor,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """`x [..., K] @ weight.T [K, N] + bias [N]` with activations quantised row by row.

    The weight is int8 `[N, K]`, `weight_max` its `channel_max`; the result has `x`'s dtype.
    """
    rows = x.reshape(-1, x.shape[-1])
    x_q = torch.empty_like(rows, dtype=torch.int8)
    x_max = torch.empty(rows.shape[0], dtype=torch.float32, device=x.device)
    out = torch.empty(rows.shape[0], weight.shape[0], dtype=x.dtype, device=x.device)
    ops = sdk.kernels()
    ops.quant2d(rows, x_q, x_max, force_sdnn=True)
    bias = None if bias is None else bias.float()
    ops.matmul(x_q, weight, out, bias=bias, x_pc_max=x_max, w_pc_max=weight_max)
    return out.view(*x.shape[:-1], weight.shape[0])
