"""Sampling: from logits to the next token, on the device.

SGLang turns temperature 0 into `top_k == 1` before it builds a batch; both spellings are greedy
here. Top-k and top-p are both taken from the full distribution and then intersected ("joint"
order), as SGLang's own torch sampler does.
"""

from __future__ import annotations

from typing import Any

import torch

from kunlun_backend import sdk


def _filtered(
    probs: torch.Tensor, top_ks: torch.Tensor, top_ps: torch.Tensor, min_ps: torch.Tensor | None
) -> torch.Tensor:
    """What of `probs [B, V]` may be drawn: float32 `[B, V]`, zero elsewhere, not normalised."""
    ops = sdk.kernels()
    kept = ops.top_k_renorm_probs(probs, top_ks.to(torch.int32)) > 0
    kept &= ops.top_p_renorm_probs(probs, top_ps.float()) > 0
    if min_ps is not None:
        kept &= probs >= min_ps[:, None] * probs.amax(-1, keepdim=True)
    return torch.where(kept, probs, torch.zeros_like(probs))


def draw(
    probs: torch.Tensor,
    top_ks: torch.Tensor,
    top_ps: torch.Tensor,
    min_ps: torch.Tensor | None = None,
) -> torch.Tensor:
    """Draw one token for each row of `probs [B, V]`: int32 `[B]`; a `top_k` of 1 is greedy."""
    sampled = torch.multinomial(_filtered(probs, top_ks, top_ps, min_ps), 1).view(-1)
    return torch.where(top_ks == 1, probs.argmax(-1), sampled).to(torch.int32)


def sample(logits: torch.Tensor, sampling_info: Any) -> torch.Tensor:
    """The next token of each request, int32 `[B]`, from `logits [B, V]`.

    Of SGLang's `SamplingBatchInfo` it reads `is_all_greedy`, `temperatures [B, 1]`, `top_ks`,
    `top_ps`, `min_ps` `[B]` and `need_min_p_sampling`.
    """
    greedy = logits.argmax(-1).to(torch.int32)
    if sampling_info.is_all_greedy:
        return greedy
    temperatures = sampling_info.temperatures.view(-1, 1)
    cold = temperatures <= 0
    heated = logits.float() / torch.where(cold, torch.ones_like(temperatures), temperatures)
    drawn = draw(
        torch.softmax(heated, dim=-1),
        sampling_info.top_ks,
        sampling_info.top_ps,
        sampling_info.min_ps if sampling_info.need_min_p_sampling else None,
    )
    return torch.where(cold.view(-1), greedy, drawn)


def draw_for_sglang(
    original: Any,
    probs: torch.Tensor,
    top_ks: torch.Tensor,
    top_ps: torch.Tensor,
    min_ps: torch.Tensor,
    need_min_p_sampling: bool,
    sampling_seed: torch.Tensor | None,
    positions: torch.Tensor,
    **options: Any,
) -> Any:
    """Stands around SGLang's function; seeded draws and filtered probabilities stay SGLang's."""
    if sampling_seed is not None or options.get("return_filtered_probs"):
        return original(
            probs, top_ks, top_ps, min_ps, need_min_p_sampling, sampling_seed, positions, **options
        )
    return draw(probs, top_ks, top_ps, min_ps if need_min_p_sampling else None)
