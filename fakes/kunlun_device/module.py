"""What `torch.get_device_module("kunlun")` gives: streams, events, memory."""

from __future__ import annotations

import types
from typing import Any

import torch
from sglang_contracts.fakes.kunlun_device.events import Kind, State, record

MEMORY_BYTES = 96 << 30
"""What the simulated card has."""


class Stream:
    """A stream of the card; everything here runs in order."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs

    def synchronize(self) -> None:
        """Wait for the stream, recorded."""
        record(Kind.SYNCHRONISE, "Stream.synchronize")

    def wait_stream(self, stream: Any) -> None:
        """Order behind another stream: nothing to do."""

    def wait_event(self, event: Any) -> None:
        """Order behind an event: nothing to do."""

    def record_event(self, event: Any = None) -> Any:
        """Mark this point of the stream."""
        return event if event is not None else StreamEvent()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class StreamEvent:
    """A mark in a stream."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs

    def record(self, stream: Any = None) -> None:
        """Mark this point."""

    def wait(self, stream: Any = None) -> None:
        """Order behind the mark: nothing to do."""

    def query(self) -> bool:
        """Whether the card is past the mark."""
        return True

    def synchronize(self) -> None:
        """Wait for the mark, recorded."""
        record(Kind.SYNCHRONISE, "Event.synchronize")

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds between two marks; the simulation has no clock."""
        return 0.0


class StreamContext:
    """A block on a stream; everything here runs in order."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


class DeviceModule(types.ModuleType):
    """What `torch.get_device_module("kunlun")` gives."""

    Stream = Stream
    StreamContext = StreamContext
    Event = StreamEvent

    def is_available(self) -> bool:
        """There is a card."""
        return True

    def is_initialized(self) -> bool:
        """Nothing has to be initialised."""
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def _lazy_init(self) -> None:
        pass

    def current_device(self) -> int:
        """The only card there is."""
        return 0

    def device_count(self) -> int:
        """One card."""
        return 1

    def set_device(self, device: Any) -> None:
        """There is no other."""

    def synchronize(self, device: Any = None) -> None:
        """Wait for the card, recorded."""
        record(Kind.SYNCHRONISE, "synchronize")

    def empty_cache(self) -> None:
        """Nothing is cached."""

    def manual_seed(self, seed: int) -> None:
        """Nothing: random numbers are the CPU's, which torch.manual_seed seeds as well."""

    def manual_seed_all(self, seed: int) -> None:
        """As `manual_seed`."""

    def current_stream(self, device: Any = None) -> Any:
        """Everything runs in order."""
        return Stream()

    def stream(self, stream: Any) -> Any:
        """The stream, whose block runs in order as everything does."""
        return stream

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """What mixed precision may use."""
        return [torch.float16, torch.bfloat16]

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:
        """Free and all bytes of the card."""
        used = State.recorder.live if State.recorder is not None else 0
        return MEMORY_BYTES - used, MEMORY_BYTES

    def memory_allocated(self, device: Any = None) -> int:
        """Bytes that tensors hold."""
        return State.recorder.live if State.recorder is not None else 0

    def get_device_name(self, device: Any = 0) -> str:
        """The card's name."""
        return "Kunlun (simulated)"
