"""Launches that are captured once and replayed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from sglang_contracts.fakes.kunlun_device.events import State
from sglang_contracts.fakes.kunlun_device.tensor import opaque
from sglang_contracts.fakes.nested import tensors


class Graph:
    """Launches captured once and replayed with the same addresses, as a card's graphs are.

    A replay runs what was captured on the memory of the capture: what the host computed during
    the capture is frozen, what stands in captured tensors is read anew. Copies to or from the host
    and synchronisations are not permitted inside a capture.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[Callable[[], Any], Any]] = []

    @contextlib.contextmanager
    def capture(self) -> Iterator[None]:
        """Capture what is launched inside the block; it runs as well."""
        if State.graph is not None:
            raise RuntimeError("a graph capture is running already")
        State.graph = self
        try:
            yield
        finally:
            State.graph = None

    def replay(self) -> None:
        """Run the captured launches again, results into the captured results' memory."""
        with opaque(), torch.no_grad():
            for step, out in self.steps:
                new = step()
                if out is None or new is None:
                    continue
                for old, fresh in zip(tensors(out), tensors(new), strict=True):
                    if old is not fresh:
                        old.copy_(fresh)
