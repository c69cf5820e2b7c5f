"""Entry point `sglang.srt.plugins`: what the plugin registers in every process of the engine."""

from __future__ import annotations

import os
from typing import Any

from kunlun_backend import BACKEND_NAME, sdk


def _make_backend(model_runner: Any) -> Any:
    from kunlun_backend import backend  # not before SGLang has loaded its own

    return backend.KunlunAttentionBackend(model_runner)


def register_all() -> None:
    """Register the attention backend and the hooks; without the runtime, nothing."""
    if not sdk.available():
        return
    from sglang.srt.layers.attention.attention_registry import register_attention_backend
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType
    from sglang.srt.server_args import ATTENTION_BACKEND_CHOICES, add_attention_backend_choices

    from kunlun_backend import communicator, compat, fused_ops, sampler, service

    if BACKEND_NAME not in ATTENTION_BACKEND_CHOICES:
        add_attention_backend_choices([BACKEND_NAME])
    register_attention_backend(BACKEND_NAME)(_make_backend)
    norms = "sglang.srt.layers.layernorm.RMSNorm.forward_native"
    draws = "sglang.srt.layers.sampler.top_k_top_p_min_p_sampling_from_probs_torch"
    # Where it is defined: naming the HTTP server itself would import it into every worker.
    serves = "sglang.srt.utils.common.set_uvicorn_logging_configs"
    replace, before = HookType.REPLACE, HookType.BEFORE
    hooks = [(replace, target, hook) for target, hook in compat.triton_hooks().items()]
    hooks += [(HookType.AROUND, norms, fused_ops.rms_norm)]
    hooks += [(HookType.AROUND, draws, sampler.draw_for_sglang), (before, serves, service.install)]
    if os.environ.get(communicator.SWITCH):
        target = "sglang.srt.distributed.parallel_state.GroupCoordinator.all_reduce"
        hooks += [(HookType.AROUND, target, communicator.reduce_for_sglang)]
    for kind, target, hook in hooks:
        # A process may run the entry point again: a hook around a hook would run twice.
        if not any(known is hook for _, known, *_ in HookRegistry._hooks.get(target, ())):
            HookRegistry.register(target, hook, kind)
