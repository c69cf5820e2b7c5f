"""A card of a stated size in the real engine: its pool no longer depends on who else runs.

:func:`install` is called when Python starts, where :data:`VARIABLE` says how many bytes the card
has. On the CPU, SGLang takes the host's free memory for the card's: it is told the stated size less
what the loaded model holds. The simulated card counts what its tensors hold by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sglang_contracts.live import shim

VARIABLE = "SGLANG_CONTRACTS_CARD_MEMORY"
"""Bytes of the card; empty: what the host has free."""

_taken = 0
"""Bytes that the loaded model holds."""


def install(size: int) -> None:
    """Have a card of ``size`` bytes in whatever engine this process will run."""
    shim.after_import("psutil", lambda module: _state(module, size))
    shim.after_import("sglang.srt.model_executor.model_runner", _count_weights)
    shim.after_import(
        "sglang_contracts.fakes.kunlun_device.module",
        lambda module: setattr(module, "MEMORY_BYTES", size),
    )


def _state(module: Any, size: int) -> None:
    real: Callable[[], Any] = module.virtual_memory

    @functools.wraps(real)
    def virtual_memory() -> Any:
        return real()._replace(total=size, available=size - _taken)

    module.virtual_memory = virtual_memory


def _count_weights(module: Any) -> None:
    cls = module.ModelRunner
    real: Callable[..., Any] = cls.load_model

    @functools.wraps(real)
    def load_model(this: Any, *args: Any, **kwargs: Any) -> Any:
        global _taken
        result = real(this, *args, **kwargs)
        tensors = [*this.model.parameters(), *this.model.buffers()]
        storages = {each.data_ptr(): each.untyped_storage().nbytes() for each in tensors}
        _taken += sum(storages.values())
        return result

    cls.load_model = load_model
