"""Fused layer operators: SGLang's layers, Kunlun's kernels where they compute the same."""

from __future__ import annotations

from typing import Any

import torch

from kunlun_backend import sdk


def rms_norm(
    original: Any,
    norm: Any,
    x: torch.Tensor,
    residual: torch.Tensor | None = None,
    *more: Any,
    **options: Any,
) -> Any:
    """Stands around `RMSNorm.forward_native`; a variant that the kernel lacks stays SGLang's."""
    special = (norm.variance_size_override, norm.override_orig_dtype, *more, *options.values())
    plain = norm.has_weight and not (norm.fp32_residual or norm.cast_x_before_out_mul)
    if not plain or any(value is not None for value in special):
        return original(norm, x, residual, *more, **options)
    ops, eps, out = sdk.kernels(), norm.variance_epsilon, torch.empty_like(x)
    if residual is None:
        ops.rmsnorm(x, norm.weight, out, eps, False, True, None, None, None)
        return out
    total = torch.empty_like(x)
    ops.add_rmsnorm(x, residual, norm.weight, out, eps, False, True, None, None, None, total, None)
    return out, total
