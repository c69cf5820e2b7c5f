"""What happens on the simulated card, and where it is noted."""

from __future__ import annotations

import contextlib
import enum
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from sglang_contracts.fakes.kunlun_device.graph import Graph

_FAKES = Path(__file__).parents[1]
_OWN_FILES = str(_FAKES / "kunlun_device"), str(_FAKES / "kunlun_sdk")
_TORCH = str(Path(torch.__file__).parent)


class Kind(enum.Enum):
    """What happened on the card."""

    HOST_TO_DEVICE = "host-to-device copy"
    DEVICE_TO_HOST = "device-to-host copy"
    SYNCHRONISE = "synchronisation"
    ALLOCATE = "allocation"
    KERNEL = "kernel"


@dataclass(frozen=True)
class Event:
    """One thing that happened on the card.

    Attributes:
        kind: What.
        operation: The operator or kernel.
        nbytes: Bytes copied, or of new device memory that the operation's results took.
        file: The caller's file, outside torch and this package's simulation.
        line: The line there.
    """

    kind: Kind
    operation: str
    nbytes: int
    file: str
    line: int

    def __str__(self) -> str:
        size = f", {self.nbytes} bytes" if self.nbytes else ""
        return f"{self.kind.value} by {self.operation}{size} at {self.file}:{self.line}"


class Events(list[Event]):
    """What happened, in order."""

    def of(self, *kinds: Kind) -> Events:
        """The events of these kinds."""
        return Events(event for event in self if event.kind in kinds)

    @property
    def transfers(self) -> Events:
        """Copies between host and device, either way."""
        return self.of(Kind.HOST_TO_DEVICE, Kind.DEVICE_TO_HOST)

    @property
    def synchronisations(self) -> Events:
        """Where the host waits for the card: explicit ones and copies to the host."""
        return self.of(Kind.SYNCHRONISE, Kind.DEVICE_TO_HOST)

    @property
    def allocated(self) -> int:
        """Bytes of new device memory, by allocations and by results of operators."""
        return sum(event.nbytes for event in self.of(Kind.ALLOCATE, Kind.KERNEL))

    def describe(self) -> str:
        """One line an event, for a failing assertion."""
        return "\n".join(str(event) for event in self) or "nothing happened on the card"


@dataclass
class Recorder:
    """Collects the events of one `activate()`.

    Attributes:
        events: Everything since activation.
        live: Bytes of device memory that tensors hold now.
        peak: The largest `live` so far.
    """

    events: Events = field(default_factory=Events)
    live: int = 0
    peak: int = 0

    @contextlib.contextmanager
    def window(self) -> Iterator[Events]:
        """The events that happen inside the block; the list is filled when it ends."""
        start = len(self.events)
        inside = Events()
        try:
            yield inside
        finally:
            inside.extend(self.events[start:])


class State:
    """What is active in this process; the simulation is for one thread."""

    recorder: Recorder | None = None
    graph: Graph | None = None
    storages: dict[int, int] = {}  # noqa: RUF012  # one process, one card


def caller() -> tuple[str, int]:
    """File and line of whoever asked for it, outside torch and this package's simulation."""
    frame = sys._getframe(2)
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_TORCH, *_OWN_FILES)) and "contextlib" not in file:
            break
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def record(kind: Kind, operation: object, nbytes: int = 0) -> None:
    """Note an event.

    Raises:
        RuntimeError: It is not permitted during the graph capture that is running.
    """
    graph = State.graph
    if graph is not None and kind not in (Kind.KERNEL, Kind.ALLOCATE):
        raise RuntimeError(f"{kind.value} by {operation} is not permitted during a graph capture")
    if State.recorder is not None:
        State.recorder.events.append(Event(kind, str(operation), nbytes, *caller()))
