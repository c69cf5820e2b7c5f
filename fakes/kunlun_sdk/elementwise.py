"""Norms, activation and rotary embedding of the SDK. Computed in float32, rounded once."""

from __future__ import annotations

import torch
from sglang_contracts.fakes.kunlun_sdk.launch import kernel


def _rms(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """Root-mean-square norm over the last axis of a float32 tensor."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight.float()


@kernel("kunlun_ops")
def rmsnorm(
    x: torch.Tensor,
    weight: torch.Tensor,
    out: torch.Tensor,
    eps: float,
    is_layer_norm: bool = False,
    is_rms_norm: bool = True,
    bias: torch.Tensor | None = None,
    smooth: torch.Tensor | None = None,
    scale: torch.Tensor | None = None,
) -> None:
    """RMS norm of `x [..., N]` by `weight [N]` into `out`.

    Raises:
        NotImplementedError: Another norm than RMS, or a smoothing argument.
    """
    if is_layer_norm or not is_rms_norm or any(a is not None for a in (bias, smooth, scale)):
        raise NotImplementedError("kunlun_ops.rmsnorm: the shim has the plain RMS norm only")
    out.copy_(_rms(x.float(), weight, eps))


@kernel("kunlun_ops")
def add_rmsnorm(
    x: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    out: torch.Tensor,
    eps: float,
    is_layer_norm: bool = False,
    is_rms_norm: bool = True,
    bias: torch.Tensor | None = None,
    smooth: torch.Tensor | None = None,
    scale: torch.Tensor | None = None,
    residual_out: torch.Tensor | None = None,
    scale_out: torch.Tensor | None = None,
) -> None:
    """Add `residual` to `x`, keep the sum in `residual_out`, and its RMS norm in `out`.

    Raises:
        NotImplementedError: Another norm than RMS, or a smoothing argument.
    """
    extra = (bias, smooth, scale, scale_out)
    if is_layer_norm or not is_rms_norm or any(a is not None for a in extra):
        raise NotImplementedError("kunlun_ops.add_rmsnorm: the shim has the plain RMS norm only")
    total = x.float() + residual.float()
    if residual_out is not None:
        residual_out.copy_(total)
    out.copy_(_rms(total, weight, eps))


@kernel("kunlun_ops")
def swiglu(x: torch.Tensor, y: torch.Tensor) -> None:
    """`silu(first half) * second half` of `x [..., 2N]` into `y [..., N]`."""
    gate, up = x.float().chunk(2, dim=-1)
    y.copy_(torch.nn.functional.silu(gate) * up)


def rotary_embedding(
    positions: torch.Tensor,
    rotary_dim: int,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox_style: bool,
    query: torch.Tensor,
    key: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the first `rotary_dim` numbers of each head of `query` and `key`.

    Args:
        positions: int64 `[T]`.
        rotary_dim: How much of a head is rotated.
        head_size: D.
        cos_sin_cache: `[positions, rotary_dim]`, cosines then sines.
        is_neox_style: Halves are rotated against each other; else even and odd numbers.
        query: `[T, H * D]`.
        key: `[T, Hkv * D]`.

    Returns:
        The rotated query and key, in their own dtypes and shapes.
    """
    cos, sin = cos_sin_cache[positions].float().chunk(2, dim=-1)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)

    def rotate(x: torch.Tensor) -> torch.Tensor:
        heads = x.reshape(x.shape[0], -1, head_size).float()
        turned, kept = heads[..., :rotary_dim], heads[..., rotary_dim:]
        if is_neox_style:
            a, b = turned.chunk(2, dim=-1)
            turned = torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
        else:
            a, b = turned[..., 0::2], turned[..., 1::2]
            turned = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)
        return torch.cat((turned, kept), dim=-1).reshape(x.shape).to(x.dtype)

    return rotate(query), rotate(key)
