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
import enum
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from sglang_contracts.fakes.nested import mapped, tensors
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from sglang_contracts.errors import ContractsError

DEVICE_TYPE = "kunlun"
"""What `tensor.device.type` says."""

MEMORY_BYTES = 96 << 30
"""What the simulated card has."""

_aten = torch.ops.aten
_OWN_FILES = (str(Path(__file__)), str(Path(__file__).parent / "kunlun_sdk"))
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


class _State:
    """What is active in this process; the simulation is for one thread."""

    recorder: Recorder | None = None
    graph: Graph | None = None
    storages: dict[int, int] = {}  # noqa: RUF012  # one process, one card


def _caller() -> tuple[str, int]:
    frame = sys._getframe(2)
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_TORCH, *_OWN_FILES)) and "contextlib" not in file:
            break
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _record(kind: Kind, operation: object, nbytes: int = 0) -> None:
    graph = _State.graph
    if graph is not None and kind not in (Kind.KERNEL, Kind.ALLOCATE):
        raise RuntimeError(f"{kind.value} by {operation} is not permitted during a graph capture")
    if _State.recorder is not None:
        _State.recorder.events.append(Event(kind, str(operation), nbytes, *_caller()))


def _bytes(tensor: torch.Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


def _key(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _release(key: int, nbytes: int, recorder: Recorder | None) -> None:
    """One tensor on a storage is gone; with the last one the memory is free."""
    _State.storages[key] -= 1
    if not _State.storages[key]:
        del _State.storages[key]
        if recorder is not None:
            recorder.live -= nbytes


class KunlunTensor(torch.Tensor):  # type: ignore[misc]
    """A tensor of the simulated card: its values lie in the CPU tensor `host`."""

    host: torch.Tensor

    @staticmethod
    def __new__(cls, host: torch.Tensor) -> KunlunTensor:  # the class itself
        """Wrap `host` without copying it."""
        wrap: Any = torch.Tensor._make_wrapper_subclass
        tensor: KunlunTensor = wrap(
            cls,
            host.size(),
            strides=host.stride(),
            storage_offset=host.storage_offset(),
            dtype=host.dtype,
            device=torch.device(DEVICE_TYPE, 0),
            requires_grad=False,
        )
        tensor.host = host
        key, nbytes = _key(host), host.untyped_storage().nbytes()
        if key:
            _State.storages[key] = _State.storages.get(key, 0) + 1
            recorder = _State.recorder
            if recorder is not None and _State.storages[key] == 1:
                recorder.live += nbytes
                recorder.peak = max(recorder.peak, recorder.live)
            weakref.finalize(tensor, _release, key, nbytes, recorder)
        return tensor

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return (
            f"KunlunTensor(shape={tuple(self.shape)}, dtype={self.dtype}, device='{self.device}')"
        )

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run `func` on the wrapped tensors."""
        return _run(func, args, kwargs or {})

    @classmethod
    def __kunlun_launch__(
        cls,
        name: str,
        kernel: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Launch a kernel of the SDK stand-in; it is opaque but for what it returns."""
        _record(Kind.KERNEL, name)
        bare_args, bare_kwargs = mapped(_unwrap, (tuple(args), kwargs))

        def launch() -> Any:
            with torch.no_grad(), _opaque():
                return kernel(*bare_args, **bare_kwargs)

        out = launch()
        if _State.graph is not None:
            _State.graph.steps.append((launch, out))
        return _rewrap(out, (args, kwargs))


@contextlib.contextmanager
def _opaque() -> Iterator[None]:
    """Inside it torch computes as if there were no card: a kernel's own operators are nobody's.

    They see bare CPU tensors only, and there are fifty of them in a kernel: past the modes.
    """
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        yield


def _unwrap(value: torch.Tensor) -> torch.Tensor:
    return value.host if isinstance(value, KunlunTensor) else value


def _rewrap(out: Any, inputs: Any) -> Any:
    """Results as device tensors; a result that *is* an input comes back as that input."""
    known = {id(value.host): value for value in tensors(inputs) if isinstance(value, KunlunTensor)}

    def wrap(value: torch.Tensor) -> torch.Tensor:
        same = known.get(id(value))
        if same is None:
            return KunlunTensor(value)
        if same.shape != value.shape:
            raise RuntimeError("the simulated device does not resize tensors in place")
        return same

    return mapped(wrap, out)


_SYNCHRONISING = {
    _aten._local_scalar_dense.default,
    _aten.equal.default,
    _aten.is_nonzero.default,
    _aten.item.default,
    _aten.masked_select.default,
    _aten.nonzero.default,
    _aten._unique2.default,
    _aten.unique_consecutive.default,
    _aten.unique_dim.default,
}
"""Operators whose result, or its shape, the host has to wait for."""

_INDEXING = {
    _aten.index.Tensor,
    _aten.index_put.default,
    _aten.index_put_.default,
    _aten._index_put_impl_.default,
}
"""Operators that take host indices on a device tensor, at the price of a copy."""

_FACTORIES = {
    _aten.arange.default,
    _aten.arange.start,
    _aten.arange.start_step,
    _aten.empty.memory_format,
    _aten.empty_like.default,
    _aten.empty_strided.default,
    _aten.full.default,
    _aten.full_like.default,
    _aten.new_empty.default,
    _aten.new_empty_strided.default,
    _aten.new_full.default,
    _aten.new_ones.default,
    _aten.new_zeros.default,
    _aten.ones.default,
    _aten.ones_like.default,
    _aten.zeros.default,
    _aten.zeros_like.default,
}
"""Operators that make a tensor out of nothing."""


def _on_card(device: Any) -> bool:
    return device is not None and torch.device(device).type == DEVICE_TYPE


def _to_copy(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`.to()`, `.cpu()`: a copy, perhaps to the other side."""
    source = args[0]
    from_card = isinstance(source, KunlunTensor)
    device = kwargs.get("device")
    to_card = _on_card(device) if device is not None else from_card
    options = {
        name: value for name, value in kwargs.items() if name not in ("pin_memory", "device")
    }
    bare = _unwrap(source)
    if from_card != to_card:
        _record(Kind.DEVICE_TO_HOST if from_card else Kind.HOST_TO_DEVICE, func, _bytes(bare))
    elif to_card:
        _record(Kind.KERNEL, func, _bytes(bare))
    return _finish(lambda: func(bare, **options), args, to_card)


def _copy(args: Sequence[Any]) -> Any:
    """`copy_`: into a tensor that exists, perhaps from the other side."""
    target, source = args[0], args[1]
    to_card, from_card = isinstance(target, KunlunTensor), isinstance(source, KunlunTensor)
    if to_card == from_card or (to_card and source.dim() == 0):
        if to_card:
            _record(Kind.KERNEL, _aten.copy_.default)
    else:
        kind = Kind.HOST_TO_DEVICE if to_card else Kind.DEVICE_TO_HOST
        _record(kind, _aten.copy_.default, _bytes(source))
    bare_target, bare_source = _unwrap(target), _unwrap(source)

    def step() -> Any:
        return bare_target.copy_(bare_source)

    step()
    if _State.graph is not None and to_card:
        _State.graph.steps.append((step, None))
    return target


def _finish(step: Callable[[], Any], inputs: Any, to_card: bool) -> Any:
    out = step()
    if not to_card:
        return out
    if _State.graph is not None:
        _State.graph.steps.append((step, out))
    return _rewrap(out, inputs)


def _check_devices(func: Any, args: Sequence[Any], flat: Sequence[torch.Tensor]) -> None:
    """Hold an operator on the card to operands on the card; host numbers (0-dim) may join."""
    strangers = [value for value in flat if not isinstance(value, KunlunTensor) and value.dim()]
    if not strangers:
        return
    if func in _INDEXING and isinstance(args[0], KunlunTensor):
        _record(Kind.HOST_TO_DEVICE, func, sum(map(_bytes, strangers)))
        return
    file, line = _caller()
    raise RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{DEVICE_TYPE}:0 and cpu! ({func} at {file}:{line})"
    )


def _run(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Run one operator, on the card if an operand or the wanted device is there."""
    if func is _aten._to_copy.default:
        return _to_copy(func, args, kwargs)
    if func is _aten.copy_.default:
        return _copy(args)
    flat = tensors((args, kwargs))
    on_card = any(isinstance(value, KunlunTensor) for value in flat)
    device = kwargs.get("device")
    to_card = _on_card(device) if device is not None else on_card
    if on_card:
        _check_devices(func, args, flat)
        by_mask = func in _INDEXING and any(
            value.dtype in (torch.bool, torch.uint8) for value in tensors(args[1])
        )
        if func in _SYNCHRONISING or (by_mask and func is _aten.index.Tensor):
            _record(Kind.SYNCHRONISE, func)
    bare_args, bare_kwargs = mapped(_unwrap, (tuple(args), kwargs))
    if device is not None:
        bare_kwargs["device"] = torch.device("cpu")
    if bare_kwargs.get("pin_memory"):
        bare_kwargs["pin_memory"] = False
    if not to_card:
        return func(*bare_args, **bare_kwargs)
    out = func(*bare_args, **bare_kwargs)
    held = {_key(value.host) for value in flat if isinstance(value, KunlunTensor)}
    fresh = {_key(value): _bytes(value) for value in tensors(out) if _key(value) not in held}
    if not fresh and not func._schema.is_mutable:
        return _rewrap(out, (args, kwargs))  # a view, or a number that was recorded above
    _record(Kind.ALLOCATE if func in _FACTORIES else Kind.KERNEL, func, sum(fresh.values()))
    if _State.graph is not None:
        _State.graph.steps.append((lambda: func(*bare_args, **bare_kwargs), out if fresh else None))
    return _rewrap(out, (args, kwargs))


class _Operators(TorchDispatchMode):  # type: ignore[misc]
    """Sees every operator, those that only name the device included."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: torch would import its compiler, for seconds, to keep it out of here."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run `func`, see `_run`."""
        options = kwargs or {}
        if not types and not _on_card(options.get("device")) and not options.get("pin_memory"):
            return func(*args, **options)  # no operand is on the card, nor is the result
        return _run(func, args, options)


class _Functions(TorchFunctionMode):  # type: ignore[misc]
    """Python-level entry points that never reach the dispatcher."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Serve those entry points; everything else goes its way."""
        options = dict(kwargs or {})
        if func in (torch.tensor, torch.as_tensor) and _on_card(options.get("device")):
            device = options.pop("device")
            value = func(*args, **options)
            return value if isinstance(value, KunlunTensor) else value.to(device)
        if args and isinstance(args[0], KunlunTensor):
            tensor = args[0]
            if func is torch.Tensor.tolist:
                _record(Kind.DEVICE_TO_HOST, "tolist", _bytes(tensor.host))
                return tensor.host.tolist()
            if func in (torch.Tensor.numpy, torch.Tensor.__array__):
                raise TypeError(
                    f"can't convert {DEVICE_TYPE}:0 device type tensor to numpy. Use Tensor.cpu() "
                    "to copy the tensor to host memory first."
                )
            if func is torch.Tensor.data_ptr:
                return tensor.host.data_ptr()
        return func(*args, **options)


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
        if _State.graph is not None:
            raise RuntimeError("a graph capture is running already")
        _State.graph = self
        try:
            yield
        finally:
            _State.graph = None

    def replay(self) -> None:
        """Run the captured launches again, results into the captured results' memory."""
        with _opaque(), torch.no_grad():
            for step, out in self.steps:
                new = step()
                if out is None or new is None:
                    continue
                for old, fresh in zip(tensors(out), tensors(new), strict=True):
                    if old is not fresh:
                        old.copy_(fresh)


class Stream:
    """A stream of the card; everything here runs in order."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs

    def synchronize(self) -> None:
        """Wait for the stream, recorded."""
        _record(Kind.SYNCHRONISE, "Stream.synchronize")

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
        _record(Kind.SYNCHRONISE, "Event.synchronize")

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds between two marks; the simulation has no clock."""
        return 0.0


class _DeviceModule(types.ModuleType):
    """What `torch.get_device_module("kunlun")` gives."""

    Stream = Stream
    Event = StreamEvent

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def _lazy_init(self) -> None:
        pass

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def set_device(self, device: Any) -> None:
        pass

    def synchronize(self, device: Any = None) -> None:
        _record(Kind.SYNCHRONISE, "synchronize")

    def empty_cache(self) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        pass  # random numbers are the CPU's, which torch.manual_seed seeds as well

    def manual_seed_all(self, seed: int) -> None:
        pass

    def current_stream(self, device: Any = None) -> Any:
        return Stream()

    def stream(self, stream: Any) -> Any:
        return stream

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:
        used = _State.recorder.live if _State.recorder is not None else 0
        return MEMORY_BYTES - used, MEMORY_BYTES

    def memory_allocated(self, device: Any = None) -> int:
        return _State.recorder.live if _State.recorder is not None else 0

    def get_device_name(self, device: Any = 0) -> str:
        return "Kunlun (simulated)"


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


def _register() -> None:
    reason = unsupported()
    if reason:
        raise ContractsError(f"{reason}.", "Install torch 2.13 or later (a CPU build will do).")
    module = getattr(torch, DEVICE_TYPE, None)
    if isinstance(module, _DeviceModule):
        return
    from torch.utils import backend_registration

    setup: Any = backend_registration._setup_privateuseone_for_python_backend
    setup(DEVICE_TYPE, backend_module=_DeviceModule(f"torch.{DEVICE_TYPE}"))


@contextlib.contextmanager
def activate() -> Iterator[Recorder]:
    """Have the simulated card in this block.

    Yields:
        The recorder of what happens on the card.

    Raises:
        ContractsError: This torch is too old.
        RuntimeError: The card is active already.
    """
    _register()
    if _State.recorder is not None:
        raise RuntimeError("the simulated Kunlun card is active already")
    _State.recorder = recorder = Recorder()
    try:
        with _Operators(), _Functions():
            yield recorder
    finally:
        _State.recorder = None
