"""Runs torch's operators on what the card's tensors hold, by the rules of a card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from sglang_contracts.fakes.kunlun_device.events import Kind, State, caller, record
from sglang_contracts.fakes.kunlun_device.tensor import (
    DEVICE_TYPE,
    KunlunTensor,
    rewrap,
    size_of,
    storage_of,
    unwrap,
)
from sglang_contracts.fakes.nested import mapped, tensors
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

_aten = torch.ops.aten

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


def names_the_card(device: Any) -> bool:
    """Whether a device, as torch takes it, is the card."""
    return device is not None and torch.device(device).type == DEVICE_TYPE


def _to_copy(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`.to()`, `.cpu()`: a copy, perhaps to the other side."""
    source = args[0]
    from_card = isinstance(source, KunlunTensor)
    device = kwargs.get("device")
    to_card = names_the_card(device) if device is not None else from_card
    options = {
        name: value for name, value in kwargs.items() if name not in ("pin_memory", "device")
    }
    bare = unwrap(source)
    if from_card != to_card:
        record(Kind.DEVICE_TO_HOST if from_card else Kind.HOST_TO_DEVICE, func, size_of(bare))
    elif to_card:
        record(Kind.KERNEL, func, size_of(bare))
    return _finish(lambda: func(bare, **options), args, to_card)


def _copy(args: Sequence[Any]) -> Any:
    """`copy_`: into a tensor that exists, perhaps from the other side."""
    target, source = args[0], args[1]
    to_card, from_card = isinstance(target, KunlunTensor), isinstance(source, KunlunTensor)
    if to_card == from_card or (to_card and source.dim() == 0):
        if to_card:
            record(Kind.KERNEL, _aten.copy_.default)
    else:
        kind = Kind.HOST_TO_DEVICE if to_card else Kind.DEVICE_TO_HOST
        record(kind, _aten.copy_.default, size_of(source))
    bare_target, bare_source = unwrap(target), unwrap(source)

    def step() -> Any:
        return bare_target.copy_(bare_source)

    step()
    if State.graph is not None and to_card:
        State.graph.steps.append((step, None))
    return target


def _finish(step: Callable[[], Any], inputs: Any, to_card: bool) -> Any:
    out = step()
    if not to_card:
        return out
    if State.graph is not None:
        State.graph.steps.append((step, out))
    return rewrap(out, inputs)


def _check_devices(func: Any, args: Sequence[Any], flat: Sequence[torch.Tensor]) -> None:
    """Hold an operator on the card to operands on the card; host numbers (0-dim) may join."""
    strangers = [value for value in flat if not isinstance(value, KunlunTensor) and value.dim()]
    if not strangers:
        return
    if func in _INDEXING and isinstance(args[0], KunlunTensor):
        record(Kind.HOST_TO_DEVICE, func, sum(map(size_of, strangers)))
        return
    file, line = caller()
    raise RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{DEVICE_TYPE}:0 and cpu! ({func} at {file}:{line})"
    )


def run(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Run one operator, on the card if an operand or the wanted device is there."""
    if func is _aten._to_copy.default:
        return _to_copy(func, args, kwargs)
    if func is _aten.copy_.default:
        return _copy(args)
    flat = tensors((args, kwargs))
    on_card = any(isinstance(value, KunlunTensor) for value in flat)
    device = kwargs.get("device")
    to_card = names_the_card(device) if device is not None else on_card
    if on_card:
        _check_devices(func, args, flat)
        by_mask = func in _INDEXING and any(
            value.dtype in (torch.bool, torch.uint8) for value in tensors(args[1])
        )
        if func in _SYNCHRONISING or (by_mask and func is _aten.index.Tensor):
            record(Kind.SYNCHRONISE, func)
    bare_args, bare_kwargs = mapped(unwrap, (tuple(args), kwargs))
    if device is not None:
        bare_kwargs["device"] = torch.device("cpu")
    if bare_kwargs.get("pin_memory"):
        bare_kwargs["pin_memory"] = False
    if not to_card:
        return func(*bare_args, **bare_kwargs)
    out = func(*bare_args, **bare_kwargs)
    held = {storage_of(value.host) for value in flat if isinstance(value, KunlunTensor)}
    made = {storage_of(value): size_of(value) for value in tensors(out)}
    fresh = {key: nbytes for key, nbytes in made.items() if key not in held}
    if not fresh and not func._schema.is_mutable:
        return rewrap(out, (args, kwargs))  # a view, or a number that was recorded above
    record(Kind.ALLOCATE if func in _FACTORIES else Kind.KERNEL, func, sum(fresh.values()))
    if State.graph is not None:
        State.graph.steps.append((lambda: func(*bare_args, **bare_kwargs), out if fresh else None))
    return rewrap(out, (args, kwargs))


class Operators(TorchDispatchMode):  # type: ignore[misc]
    """Sees every operator, those that only name the device included."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: torch would import its compiler, for seconds, to keep it out of here."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run `func`, see `run`."""
        options = kwargs or {}
        if (
            not types
            and not names_the_card(options.get("device"))
            and not options.get("pin_memory")
        ):
            return func(*args, **options)  # no operand is on the card, nor is the result
        return run(func, args, options)


class Functions(TorchFunctionMode):  # type: ignore[misc]
    """Python-level entry points that never reach the dispatcher."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Serve those entry points; everything else goes its way."""
        options = dict(kwargs or {})
        if func in (torch.tensor, torch.as_tensor) and names_the_card(options.get("device")):
            device = options.pop("device")
            value = func(*args, **options)
            return value if isinstance(value, KunlunTensor) else value.to(device)
        if args and isinstance(args[0], KunlunTensor):
            tensor = args[0]
            if func is torch.Tensor.tolist:
                record(Kind.DEVICE_TO_HOST, "tolist", size_of(tensor.host))
                return tensor.host.tolist()
            if func in (torch.Tensor.numpy, torch.Tensor.__array__):
                raise TypeError(
                    f"can't convert {DEVICE_TYPE}:0 device type tensor to numpy. Use Tensor.cpu() "
                    "to copy the tensor to host memory first."
                )
            if func is torch.Tensor.data_ptr:
                return tensor.host.data_ptr()
        return func(*args, **options)
