"""Stand-ins for SGLang (any recorded release) and, in ``kunlun_*``, for the Kunlun device.

    from sglang_contracts import fakes

    with fakes.install("0.5.16"):
        from sglang.srt.model_executor.forward_batch_info import ForwardBatch

See ``docs/fakes.md``. Importing this package imports neither torch nor SGLang, and what it offers
only when it is asked for: pytest loads a plugin from here at every start.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sglang_contracts.fakes.errors import (
        FakeError,
        MissingAttributeError,
        MissingImportError,
        MissingModuleError,
        WrongCallError,
    )
    from sglang_contracts.fakes.placing import Installed, install, installed, load, uninstall
    from sglang_contracts.fakes.release import Fake

__all__ = [
    "Fake",
    "FakeError",
    "Installed",
    "MissingAttributeError",
    "MissingImportError",
    "MissingModuleError",
    "WrongCallError",
    "install",
    "installed",
    "load",
    "uninstall",
]

_PLACES = {
    "placing": ("Installed", "install", "installed", "load", "uninstall"),
    "release": ("Fake",),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = next((each for each, names in _PLACES.items() if name in names), "errors")
    return getattr(importlib.import_module(f"{__name__}.{place}"), name)
