"""Sampling kernels of `kunlun_ops`: renormalised probabilities after top-k and top-p."""

from __future__ import annotations

import torch
from sglang_contracts.fakes.kunlun_sdk.launch import kernel


def _renormalise(probs: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(-1, keepdim=True)


@kernel("kunlun_ops")
def top_k_renorm_probs(probs: torch.Tensor, top_k: torch.Tensor) -> torch.Tensor:
    """Keep each row's `top_k` largest probabilities (ties with the last are kept) and renormalise.

    Args:
        probs: float32 `[B, V]`, rows sum to 1.
        top_k: int32 `[B]`; values beyond V keep all.

    Returns:
        float32 `[B, V]`, rows sum to 1.
    """
    ordered = probs.sort(-1, descending=True).values
    last = (top_k.long().clamp(min=1, max=probs.shape[-1]) - 1)[:, None]
    return _renormalise(probs, probs >= ordered.gather(-1, last))


@kernel("kunlun_ops")
def top_p_renorm_probs(probs: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """Keep each row's smallest set of largest probabilities that reaches `top_p`; renormalise.

    Args:
        probs: float32 `[B, V]`, rows sum to 1.
        top_p: float32 `[B]`, within (0, 1].

    Returns:
        float32 `[B, V]`, rows sum to 1.
    """
    ordered, order = torch.sort(probs, dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered  # what the larger ones already have
    keep_ordered = before < top_p.float()[:, None]
    keep_ordered[:, 0] = True
    keep = torch.zeros_like(keep_ordered).scatter(-1, order, keep_ordered)
    return _renormalise(probs, keep)
