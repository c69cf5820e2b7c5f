"""The one door to the Kunlun SDK: whether it is there, what its device is called, its kernels.

`kunlun_ops` are functions that write into `out`; `torch.ops.xspeedgate_ops` are torch operators
that exist once `xspeedgate_ops` has been imported. For a host without a card the stand-in of
`sglang_contracts` answers under the same names (`SGLANG_CONTRACTS_SDK=shim`).
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from typing import Any

STAND_IN = "SGLANG_CONTRACTS_SDK"  # `shim`: compute with the stand-in, never otherwise
RUNTIME = "torch_xmlir"  # its presence means: this host has the Kunlun runtime


def available() -> bool:
    """Whether this process can use the SDK; installs the stand-in where it was asked for."""
    if os.environ.get(STAND_IN) == "shim":
        from sglang_contracts.fakes import kunlun_sdk

        kunlun_sdk.install()
        return True
    return importlib.util.find_spec(RUNTIME) is not None


@functools.cache
def _module(name: str) -> Any:
    if not available():
        raise RuntimeError(
            f"The Kunlun SDK ({RUNTIME}) is not installed. Install the vendor's packages, "
            f"or set {STAND_IN}=shim to compute with the stand-in on a CPU."
        )
    return importlib.import_module(name)


def kernels() -> Any:
    """The module `kunlun_ops`."""
    return _module("kunlun_ops")


def operators() -> Any:
    """The namespace `torch.ops.xspeedgate_ops`."""
    _module("xspeedgate_ops")
    import torch

    return torch.ops.xspeedgate_ops


def device_type() -> str:
    """What torch calls the card: `cuda` on the real runtime, which takes over that name."""
    return str(getattr(_module(RUNTIME), "device_type", "cuda"))


def collective_backend() -> str:
    """What torch calls the process group between cards; the real runtime takes over `nccl`."""
    return str(getattr(_module(RUNTIME), "collective_backend", "nccl"))


def pins_memory() -> bool:
    """Whether host memory can be pinned for the card: a driver can, a stand-in cannot."""
    return bool(getattr(_module(RUNTIME), "pins_memory", True))
