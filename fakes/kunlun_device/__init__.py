"""A simulated Kunlun card in pure Python: `kunlun:0` with real values and strict rules.

Inside `activate()`, tensors made on device `kunlun` say `kunlun:0`, compute real results on the
CPU, and are held to what a card enforces: operands on two devices are an error, and values reach
the host only by a copy. What a card does silently is recorded with the caller's file and line:
copies between host and device, synchronisations, allocations, kernel launches.

    with kunlun_device.activate() as recorder:
        pool = MHATokenToKVPool(..., device="kunlun")
        with recorder.window() as events:
            backend.forward_decode(...)
        assert not events.transfers, events.describe()

How: torch's private device type is renamed to `kunlun`; a wrapper tensor holds a CPU tensor, and a
dispatch mode runs every operator on the wrapped ones. A kernel of the SDK stand-in is one opaque
launch, as on a card: what it allocates inside is its own. `Graph` captures and replays launches
with fixed addresses.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from sglang_contracts.fakes.kunlun_device.events import Event, Events, Kind, Recorder, State
from sglang_contracts.fakes.kunlun_device.graph import Graph
from sglang_contracts.fakes.kunlun_device.module import (
    MEMORY_BYTES,
    DeviceModule,
    Stream,
    StreamEvent,
)
from sglang_contracts.fakes.kunlun_device.operators import Functions, Operators
from sglang_contracts.fakes.kunlun_device.tensor import DEVICE_TYPE, KunlunTensor

from sglang_contracts.errors import ContractsError

__all__ = [
    "DEVICE_TYPE",
    "MEMORY_BYTES",
    "Event",
    "Events",
    "Graph",
    "Kind",
    "KunlunTensor",
    "Recorder",
    "Stream",
    "StreamEvent",
    "activate",
    "register",
    "unsupported",
]


def unsupported() -> str:
    """Why this process cannot simulate the card; empty where it can."""
    try:
        from torch.utils import backend_registration
    except ImportError:
        backend_registration = None
    if hasattr(backend_registration, "_setup_privateuseone_for_python_backend"):
        return ""
    return (
        f"torch {torch.__version__} cannot have a device written in Python, which the simulated "
        "Kunlun card needs"
    )


def register() -> None:
    """Make the card's name known to torch in this process; a second call changes nothing.

    Raises:
        ContractsError: This torch is too old.
    """
    reason = unsupported()
    if reason:
        raise ContractsError(f"{reason}.", "Install torch 2.13 or later (a CPU build will do).")
    module = getattr(torch, DEVICE_TYPE, None)
    if isinstance(module, DeviceModule):
        return
    from torch.utils import backend_registration

    setup: Any = backend_registration._setup_privateuseone_for_python_backend
    setup(DEVICE_TYPE, backend_module=DeviceModule(f"torch.{DEVICE_TYPE}"))


@contextlib.contextmanager
def activate() -> Iterator[Recorder]:
    """Have the simulated card in this block.

    Yields:
        The recorder of what happens on the card.

    Raises:
        ContractsError: This torch is too old.
        RuntimeError: The card is active already.
    """
    register()
    if State.recorder is not None:
        raise RuntimeError("the simulated Kunlun card is active already")
    State.recorder = recorder = Recorder()
    try:
        with Operators(), Functions():
            yield recorder
    finally:
        State.recorder = None
