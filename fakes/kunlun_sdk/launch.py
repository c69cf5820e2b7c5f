"""How a shimmed kernel is launched: device rules of a card, and one hook for simulated devices.

A vendor's kernel is opaque to torch: it takes device pointers and writes its result into
`out`. The shim keeps that: every tensor whose argument name ends in `_cpu` lives on the host,
all others on one device, and a violation is an error as it would be on a card. A tensor class
that stands for another device (`sglang_contracts.fakes.kunlun_device`) offers
`__kunlun_launch__(name, kernel, args, kwargs)` and runs the kernel itself.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import torch

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])

HOST_SUFFIX = "_cpu"
"""An argument so named is read by the host part of the kernel and must be in host memory."""


_captured = contextvars.ContextVar("captured", default=False)


@contextlib.contextmanager
def captured() -> Iterator[None]:
    """Within it a kernel is part of a graph: what its host part had planned is frozen."""
    token = _captured.set(True)
    try:
        yield
    finally:
        _captured.reset(token)


def planned(lens: torch.Tensor, host: torch.Tensor | None) -> torch.Tensor:
    """The lengths that a kernel goes by: the host part launches for no more than it knows of.

    Args:
        lens: int64 lengths on the device.
        host: The host's lengths, of any integer type; None: there are none.
    """
    if host is None or _captured.get():
        return lens
    return torch.minimum(lens, host.to(lens.dtype))


def check_devices(name: str, arguments: Mapping[str, object]) -> torch.device:
    """Hold a kernel's tensors to the rule of one device.

    Args:
        name: The kernel's public name, for the message.
        arguments: The bound arguments by parameter name.

    Returns:
        The device that the kernel runs on.

    Raises:
        RuntimeError: A `_cpu` argument is not on the host, or two others differ in device.
    """
    device: torch.device | None = None
    holder = ""
    for parameter, value in arguments.items():
        if not isinstance(value, torch.Tensor):
            continue
        if parameter.endswith(HOST_SUFFIX):
            if value.device.type != "cpu":
                raise RuntimeError(
                    f"{name}: '{parameter}' is read by the host and must be a CPU tensor, "
                    f"got {value.device}"
                )
        elif device is None:
            device, holder = value.device, parameter
        elif value.device != device:
            raise RuntimeError(
                f"{name}: all device tensors must be on one device, but '{holder}' is on {device} "
                f"and '{parameter}' on {value.device}"
            )
    return device if device is not None else torch.device("cpu")


def kernel(module: str) -> Callable[[_Kernel], _Kernel]:
    """Decorate a function as a kernel of the SDK module `module`.

    Args:
        module: The SDK module whose public name the kernel has, e.g. `kunlun_ops`.
    """

    def decorate(function: _Kernel) -> _Kernel:
        name = f"{module}.{function.__name__}"
        parameters = tuple(inspect.signature(function).parameters)

        @functools.wraps(function)
        def launch(*args: Any, **kwargs: Any) -> Any:
            arguments = dict(zip(parameters, args, strict=False), **kwargs)
            check_devices(name, arguments)
            for value in arguments.values():
                simulate = getattr(type(value), "__kunlun_launch__", None)
                if simulate is not None:
                    return simulate(name, function, args, kwargs)
            with torch.no_grad():
                return function(*args, **kwargs)

        launch.__dict__["kunlun_kernel"] = name
        return launch  # type: ignore[return-value]  # same call form, as functools.wraps says

    return decorate
