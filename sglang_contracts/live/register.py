"""Registers an attention backend where no plugin mechanism does it (SGLang before 0.5.11).

``SGLANG_CONTRACTS_REGISTER`` holds ``name=module:Class``; the startup hook calls :func:`install` in
every process. Clause ``attention-backend/register_attention_backend``: the registry is there from
0.5.3 on.
"""

from __future__ import annotations

import importlib
from typing import Any

from sglang_contracts.live import shim

VARIABLE = "SGLANG_CONTRACTS_REGISTER"


def install(setting: str) -> None:
    """Register a backend as soon as the registry is imported.

    Args:
        setting: ``name=module:Class``; the class takes the model runner.
    """
    name, _, target = setting.partition("=")
    module, _, attribute = target.partition(":")

    def register(registry: Any) -> None:
        def make(model_runner: Any) -> Any:
            return getattr(importlib.import_module(module), attribute)(model_runner)

        registry.register_attention_backend(name)(make)

    def keep_triton_away(utilities: Any) -> None:
        # Which backends get Triton is a list of names in support_triton: one that is not on it is
        # taken for a GPU's. (Plugins of later releases hook it or declare a capability.)
        if hasattr(utilities, "support_triton"):
            utilities.support_triton = lambda backend: backend == "triton"

    shim.after_import("sglang.srt.layers.attention.attention_registry", register)
    shim.after_import("sglang.srt.utils.common", keep_triton_away)
