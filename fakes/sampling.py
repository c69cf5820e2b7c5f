"""Sampling: what a backend's sampler is handed, and the plain torch way that it replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import BY_RESULT, Given, function

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

BY_RESULT.add("SamplingBatchInfo")


@function("sglang.srt.layers.sampler", "top_k_top_p_min_p_sampling_from_probs_torch")
def _sample(fake: Fake, given: Given) -> Any:
    """Draw one token a row from ``probs [B, vocab]`` cut to top-k, top-p and min-p.

    Ties at an edge fall as the sort leaves them.
    """
    import torch

    probs = given["probs"]
    sorted_probs, order = probs.sort(dim=-1, descending=True)
    before = sorted_probs.cumsum(dim=-1) - sorted_probs
    rank = torch.arange(probs.shape[-1], device=probs.device)
    kept = torch.where(
        (rank[None] < given["top_ks"].view(-1, 1)) & (before <= given["top_ps"].view(-1, 1)),
        sorted_probs,
        torch.zeros((), dtype=probs.dtype, device=probs.device),
    )
    if given.get("need_min_p_sampling"):
        edge = sorted_probs[:, :1] * given["min_ps"].view(-1, 1)
        kept = torch.where(sorted_probs < edge, torch.zeros_like(kept), kept)
    seeds = given.get("sampling_seed")
    if seeds is None:
        drawn = torch.multinomial(kept, num_samples=1)
    else:  # the same seed and position give the same token, whatever is drawn beside
        drawn = torch.cat(
            [
                torch.multinomial(row, 1, generator=torch.Generator().manual_seed(seed * 7919 + at))
                for row, seed, at in zip(
                    kept, seeds.tolist(), given["positions"].tolist(), strict=True
                )
            ]
        ).view(-1, 1)
    return order.gather(1, drawn).view(-1).to(torch.int32)
