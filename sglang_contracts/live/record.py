"""Recorders: what a piece of code makes torch do, and what it calls on an object.

:class:`Operations` counts on any device. On CPU tensors it sees what *would* be a synchronisation
or an allocation on a card; which transfers there are only a device of its own can tell, so that is
the simulated device's part (:mod:`sglang_contracts.fakes.kunlun_device`).
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TRANSFER, SYNCHRONISE, ALLOCATE = "transfer", "synchronise", "allocate"

_SYNCHRONISING = frozenset(
    {
        "aten::_local_scalar_dense",  # item(), tolist(), bool(), int()
        "aten::nonzero",
        "aten::masked_select",
        "aten::unique_dim",
        "aten::_unique2",
        "aten::equal",
    }
)
_INDEXING = frozenset({"aten::index", "aten::index_put_", "aten::_index_put_impl_"})
_ALLOCATING = frozenset(
    {
        "aten::empty",
        "aten::empty_strided",
        "aten::empty_like",
        "aten::new_empty",
        "aten::new_empty_strided",
        "aten::zeros",
        "aten::zeros_like",
        "aten::new_zeros",
        "aten::ones",
        "aten::full",
        "aten::arange",
    }
)


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes:
        kind: :data:`TRANSFER`, :data:`SYNCHRONISE` or :data:`ALLOCATE`.
        operator: The torch operator, such as ``aten::_local_scalar_dense``.
        place: ``file:line`` of the Python that asked for it.
        detail: Shape and dtype of what was allocated, or ``from -> to`` of a transfer.
    """

    kind: str
    operator: str
    place: str
    detail: str = ""


def caller() -> str:
    """``file:line`` of the nearest Python frame that is neither torch's nor this module's."""
    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if "/torch/" not in path and path != __file__:
            return f"{path}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
    return ""


@dataclass
class Operations:
    """Records transfers, synchronisations and allocations within ``with operations.recording():``.

    Attributes:
        events: What happened, in order.
    """

    events: list[Event] = field(default_factory=list)

    def of(self, kind: str) -> list[Event]:
        """The events of one kind."""
        return [event for event in self.events if event.kind == kind]

    def places(self, kind: str) -> Counter[str]:
        """How often each place caused an event of that kind, by ``file name:line``."""
        return Counter(Path(event.place).name for event in self.of(kind))

    @contextlib.contextmanager
    def recording(self) -> Iterator[Operations]:
        """Record what happens within."""
        from torch.utils._python_dispatch import TorchDispatchMode

        events = self.events

        class Mode(TorchDispatchMode):  # type: ignore[misc]  # torch is not type-checked here
            def __torch_dispatch__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                result = function(*args, **(kwargs or {}))
                events.extend(_events(function._schema.name, args, kwargs or {}, result))
                return result

        with Mode():
            yield self


def _by_mask(indices: Any) -> bool:
    """Whether an index is a mask: how many elements it selects must then be known on the host."""
    return any(index is not None and str(index.dtype) == "torch.bool" for index in indices)


def _events(operator: str, args: Any, kwargs: Any, result: Any) -> Iterator[Event]:
    if operator in _SYNCHRONISING or (operator in _INDEXING and _by_mask(args[1])):
        yield Event(SYNCHRONISE, operator, caller())
    elif operator in _ALLOCATING:
        shape = "x".join(str(size) for size in result.shape) or "scalar"
        yield Event(ALLOCATE, operator, caller(), f"{shape} {result.dtype}")
    source: Any = None
    if operator == "aten::_to_copy":
        source = args[0]
    elif operator == "aten::copy_":
        source, result = args[1], args[0]
    if source is not None and source.device != result.device:
        yield Event(TRANSFER, operator, caller(), f"{source.device} -> {result.device}")


@dataclass
class Calls:
    """Counts the calls of an object's methods, arguments included.

    Attributes:
        made: ``(method, positional arguments, keyword arguments)`` of each call, in order.
    """

    made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def count(self, method: str) -> int:
        """How often ``method`` was called."""
        return sum(name == method for name, _, _ in self.made)

    @contextlib.contextmanager
    def of(self, target: Any, *methods: str) -> Iterator[Calls]:
        """Record calls of these methods of ``target`` within.

        Raises:
            AttributeError: ``target`` has no such method: a recorder that can see nothing is an
                error, not a silence.
        """
        real = {name: getattr(target, name) for name in methods}

        def recorder(name: str) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                self.made.append((name, args, kwargs))
                return real[name](*args, **kwargs)

            return call

        before = {name: vars(target)[name] for name in methods if name in vars(target)}
        for name in methods:
            setattr(target, name, recorder(name))
        try:
            yield self
        finally:
            for name in methods:
                if name in before:
                    setattr(target, name, before[name])
                else:
                    delattr(target, name)
