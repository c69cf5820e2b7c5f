"""The device that level 4 watches: simulated, where the plugin allows it and there is no card."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sglang_contracts.suite.kernel_targets import find_kernel, standing_in
from sglang_contracts.suite.violation import Inapplicable

if TYPE_CHECKING:
    from sglang_contracts.suite.context import Context


class Watch:
    """What happens on the device while the backend is asked, and what the bench does not count.

    Attributes:
        device: torch device type.
        events: What happened within :meth:`observed`, without :meth:`unobserved`.
    """

    def __init__(self, recorder: Any, module: Any) -> None:
        self._recorder, self._module = recorder, module
        self.device: str = module.DEVICE_TYPE
        self._blind: list[tuple[int, int]] = []
        self.events: list[Any] = []

    @contextlib.contextmanager
    def observed(self) -> Iterator[None]:
        """Events count."""
        start = len(self._recorder.events)
        try:
            yield
        finally:
            blind = {index for a, b in self._blind for index in range(a, b)}
            found = self._recorder.events
            self.events += [found[i] for i in range(start, len(found)) if i not in blind]

    @contextlib.contextmanager
    def unobserved(self) -> Iterator[None]:
        """Events do not count."""
        start = len(self._recorder.events)
        try:
            yield
        finally:
            self._blind.append((start, len(self._recorder.events)))

    def take(self) -> list[Any]:
        """The events since the last take."""
        found, self.events = self.events, []
        self._blind.clear()
        return found

    def live(self, most: int | None = None) -> int:
        """Bytes of device memory that tensors hold.

        Args:
            most: Where more is held, what only cycles hold is collected before it counts.
        """
        if most is None or self._recorder.live > most:
            gc.collect()
            gc.freeze()  # what there is by now need not be looked through again
        return int(self._recorder.live)

    def transfers(self, events: list[Any]) -> list[Any]:
        """Copies between host and device."""
        kind = self._module.Kind
        return [e for e in events if e.kind in (kind.HOST_TO_DEVICE, kind.DEVICE_TO_HOST)]

    def waits(self, events: list[Any]) -> list[Any]:
        """Where the host waits for the device."""
        kind = self._module.Kind
        return [e for e in events if e.kind in (kind.SYNCHRONISE, kind.DEVICE_TO_HOST)]

    def launches(self, events: list[Any]) -> list[Any]:
        """Kernels and allocations."""
        kind = self._module.Kind
        return [e for e in events if e.kind in (kind.KERNEL, kind.ALLOCATE)]

    def graph(self) -> Any:
        """A new graph to capture into."""
        return self._module.Graph()


def told(events: list[Any], most: int = 3) -> str:
    """Events as a message shows them."""
    from pathlib import Path

    shown = [
        f"{event.kind.value} by {event.operation} at {Path(event.file).name}:{event.line}"
        for event in events[:most]
    ]
    more = f" and {len(events) - most} more" if len(events) > most else ""
    return "; ".join(shown) + more


@contextlib.contextmanager
def watched(context: Context) -> Iterator[Watch]:
    """A device on which everything that happens is seen.

    Raises:
        Inapplicable: There is none here.
    """
    if not context.subject.capabilities.simulated_device:
        raise Inapplicable(
            "the plugin does not declare 'simulated-device', and on a card or a CPU what happens "
            "silently cannot be counted"
        )
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.fakes import kunlun_device as module

    reason = module.unsupported()
    if reason:
        raise Inapplicable(f"{reason}: the device cannot be simulated")
    try:
        with _opaque(context, module), module.activate() as recorder:
            watch = Watch(recorder, module)
            with context.watching(watch.observed, watch.unobserved):
                yield watch
    except ContractsError as error:
        raise Inapplicable(error.message) from error


@contextlib.contextmanager
def _opaque(context: Context, module: Any) -> Iterator[None]:
    """Make the plugin's declared attention kernels one launch each, as they are on a card."""
    import functools

    def wrapped(name: str, function: Any) -> Any:
        @functools.wraps(function)
        def launch(*args: Any, **kwargs: Any) -> Any:
            values = [*args, *kwargs.values()]
            if any(isinstance(value, module.KunlunTensor) for value in values):
                return module.KunlunTensor.__kunlun_launch__(name, function, args, kwargs)
            return function(*args, **kwargs)

        return standing_in(launch, function)

    undo = []
    for targets in context.subject.capabilities.kernels.values():
        for target in targets:
            try:
                holder, attribute = find_kernel(target)
                function = getattr(holder, attribute)
            except (ImportError, AttributeError):
                continue
            if hasattr(function, "kunlun_kernel"):
                continue  # it is one launch already
            setattr(holder, attribute, wrapped(target, function))
            undo.append((holder, attribute, function))
    try:
        yield
    finally:
        for holder, attribute, function in undo:
            setattr(holder, attribute, function)
