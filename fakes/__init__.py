"""Stand-ins for SGLang (any recorded release) and, in ``kunlun_*``, for the Kunlun device.

    from sglang_contracts import fakes

    with fakes.install("0.5.16"):
        from sglang.srt.model_executor.forward_batch_info import ForwardBatch

See ``docs/fakes.md``. Importing this package imports neither torch nor SGLang.
"""

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
