"""Entry point `sglang.srt.plugins`: what the plugin registers in every process of the engine."""

from __future__ import annotations

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
    from sglang.srt.server_args import ATTENTION_BACKEND_CHOICES, add_attention_backend_choices

    from kunlun_backend import communicator, compat, sampler

    if BACKEND_NAME not in ATTENTION_BACKEND_CHOICES:
        add_attention_backend_choices([BACKEND_NAME])
    register_attention_backend(BACKEND_NAME)(_make_backend)
    compat.keep_triton_away()
    sampler.register()
    communicator.register()
