"""A tensor of the simulated card, and how kernels see what it holds."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from sglang_contracts.fakes.kunlun_device.events import Kind, Recorder, State, record
from sglang_contracts.fakes.kunlun_sdk.launch import captured
from sglang_contracts.fakes.nested import mapped, tensors

DEVICE_TYPE = "kunlun"
"""What `tensor.device.type` says."""


def size_of(tensor: torch.Tensor) -> int:
    """Bytes of the elements."""
    return int(tensor.numel() * tensor.element_size())


def storage_of(tensor: torch.Tensor) -> int:
    """The address of the memory that a tensor is a view of."""
    return int(tensor.untyped_storage().data_ptr())


def _release(key: int, nbytes: int, recorder: Recorder | None) -> None:
    """One tensor on a storage is gone; with the last one the memory is free."""
    State.storages[key] -= 1
    if not State.storages[key]:
        del State.storages[key]
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
        key, nbytes = storage_of(host), host.untyped_storage().nbytes()
        if key:
            State.storages[key] = State.storages.get(key, 0) + 1
            recorder = State.recorder
            if recorder is not None and State.storages[key] == 1:
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
        from sglang_contracts.fakes.kunlun_device.operators import run  # it knows this class

        return run(func, args, kwargs or {})

    @classmethod
    def __kunlun_launch__(
        cls,
        name: str,
        kernel: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Launch a kernel of the SDK stand-in; it is opaque but for what it returns."""
        record(Kind.KERNEL, name)
        bare_args, bare_kwargs = mapped(unwrap, (tuple(args), kwargs))

        part = captured if State.graph is not None else contextlib.nullcontext

        def launch() -> Any:
            with torch.no_grad(), opaque(), part():
                return kernel(*bare_args, **bare_kwargs)

        out = launch()
        if State.graph is not None:
            State.graph.steps.append((launch, out))
        return rewrap(out, (args, kwargs))


@contextlib.contextmanager
def opaque() -> Iterator[None]:
    """Inside it torch computes as if there were no card: a kernel's own operators are nobody's.

    They see bare CPU tensors only, and there are fifty of them in a kernel: past the modes.
    """
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        yield


def unwrap(value: torch.Tensor) -> torch.Tensor:
    """The CPU tensor that holds the values."""
    return value.host if isinstance(value, KunlunTensor) else value


def rewrap(out: Any, inputs: Any) -> Any:
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
