"""Matrix products of `kunlun_ops`, in full precision and over int8 with scales per channel.

An int8 tensor stands for `q * max / 127`: `max` is the largest magnitude of its row, float32
("per-channel max"), which is what `quant2d` writes and `matmul` takes.
"""

from __future__ import annotations

import torch
from sglang_contracts.fakes.kunlun_sdk.launch import kernel

INT8_LIMIT = 127.0


@kernel("kunlun_ops")
def quant2d(
    x: torch.Tensor, x_q: torch.Tensor, x_scale: torch.Tensor, force_sdnn: bool = False
) -> None:
    """Quantise the rows of `x [M, K]` to int8.

    Args:
        x: Floating point, `[M, K]`.
        x_q: int8 `[M, K]`, written.
        x_scale: float32 `[M]` or `[M, 1]`, the rows' largest magnitudes, written.
        force_sdnn: Chooses the unit of the card that computes; no effect here.
    """
    del force_sdnn
    magnitude = x.float().abs().amax(-1)
    x_scale.copy_(magnitude.reshape(x_scale.shape))
    # A row of zeros has no scale; any divisor gives zeros.
    divisor = torch.where(magnitude > 0, magnitude, torch.ones_like(magnitude))
    scaled = x.float() * (INT8_LIMIT / divisor)[:, None]
    x_q.copy_(scaled.round().clamp(-INT8_LIMIT, INT8_LIMIT))


@kernel("kunlun_ops")
def matmul(
    x: torch.Tensor,
    w: torch.Tensor,
    out: torch.Tensor,
    x_trans: bool = False,
    w_trans: bool = True,
    alpha: float = 1.0,
    beta: float = 0.0,
    bias: torch.Tensor | None = None,
    x_pc_max: torch.Tensor | None = None,
    w_pc_max: torch.Tensor | None = None,
) -> None:
    """`out = alpha * x @ w.T + beta * out + bias`.

    Args:
        x: `[M, K]`, floating point or int8 with `x_pc_max`.
        w: `[N, K]` (`w_trans`), else `[K, N]`; floating point or int8 with `w_pc_max`.
        out: `[M, N]`, written.
        x_trans: `x` is `[K, M]`.
        w_trans: See `w`.
        alpha: Factor on the product.
        beta: Factor on what `out` held.
        bias: `[N]`, float32 where the operands are int8.
        x_pc_max: float32 `[M]`, the rows' largest magnitudes.
        w_pc_max: float32 `[N]`, the output channels' largest magnitudes.

    Raises:
        ValueError: An int8 operand without its scale.
    """
    for operand, maximum, name in ((x, x_pc_max, "x_pc_max"), (w, w_pc_max, "w_pc_max")):
        if operand.dtype == torch.int8 and maximum is None:
            raise ValueError(f"kunlun_ops.matmul: an int8 operand wants {name}")
    left = x.transpose(0, 1) if x_trans else x
    right = w.transpose(0, 1) if w_trans else w
    product = torch.matmul(left.float(), right.float()) * alpha
    if x_pc_max is not None and x.dtype == torch.int8:
        product = product * (x_pc_max.float() / INT8_LIMIT).reshape(-1, 1)
    if w_pc_max is not None and w.dtype == torch.int8:
        product = product * (w_pc_max.float() / INT8_LIMIT).reshape(1, -1)
    if bias is not None:
        product = product + bias.float()
    if beta:
        product = product + beta * out.float()
    out.copy_(product)
