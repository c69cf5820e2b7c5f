"""The simulated card in the real engine: every process of it computes on ``kunlun:0``.

:func:`install` is called when Python starts (``startup/sitecustomize.py``), where :data:`VARIABLE`
names a folder. The plugin's SDK stand-in then calls its device ``kunlun``; the process that runs
the model has the card of :mod:`sglang_contracts.fakes.kunlun_device`, and writes for each forward
pass what happened on it: copies between host and card, waits, launches, new memory, each with the
line that asked for it. What SGLang needs of a device that its release does not know stands here,
too, and each item says why.
"""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sglang_contracts.live import shim

VARIABLE = "SGLANG_CONTRACTS_CARD"
"""Names the folder for what happens on the card; set, the engine runs on it."""

COUNTED = "SGLANG_CONTRACTS_KERNELS"
"""Names the folder for the kernels that ran; set, the engine stays on the CPU and counts them."""

DEVICE = "kunlun"

_launched: Counter[str] = Counter()
"""Kernels of the SDK stand-in that ran on the CPU since the last note."""


@dataclass(frozen=True)
class Pass:
    """What happened on the card during one forward pass, or between two.

    Attributes:
        mode: SGLang's forward mode, in capitals; empty: between passes.
        tokens: Of the batch.
        kernels: Kernels of the SDK → how often they were launched.
        happened: ``kind`` of event → how often.
        places: ``kind|file:line|operator`` of each copy and wait → how often.
        copied: Bytes copied between host and card.
        kept: Bytes of device memory that tensors hold after it.
    """

    mode: str
    tokens: int
    kernels: dict[str, int]
    happened: dict[str, int]
    places: dict[str, int]
    copied: int
    kept: int


def passes(folder: Path) -> Iterator[Pass]:
    """What the processes have written."""
    for file in sorted(folder.glob("card-*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield Pass(**json.loads(line))


def install(folder: Path) -> None:
    """Have the card in whatever engine this process will run."""
    shim.after_import("sglang_contracts.fakes.kunlun_sdk.modules", _name_the_device)
    shim.after_import("sglang.srt.server_args", lambda _: _register())
    shim.after_import("sglang.srt.managers.scheduler", _in_the_scheduler)
    shim.after_import(
        "sglang.srt.model_executor.model_runner", lambda module: _count_passes(module, folder)
    )


def count(folder: Path) -> None:
    """Count the SDK's kernels in whatever engine this process will run, on the CPU."""
    shim.after_import("sglang_contracts.fakes.kunlun_sdk.launch", _count_launches)
    shim.after_import(
        "sglang.srt.model_executor.model_runner", lambda module: _count_passes(module, folder)
    )


def _count_launches(module: Any) -> None:
    real: Callable[..., Any] = module.kernel

    def kernel(library: str) -> Callable[[Any], Any]:
        def decorate(function: Any) -> Any:
            launch = real(library)(function)

            @functools.wraps(launch)
            def counted(*args: Any, **kwargs: Any) -> Any:
                _launched[launch.kunlun_kernel] += 1
                return launch(*args, **kwargs)

            return counted

        return decorate

    module.kernel = kernel


def _name_the_device(modules: Any) -> None:
    modules.DEVICE_TYPE = DEVICE


def _register() -> None:
    from sglang_contracts.fakes import kunlun_device

    kunlun_device.register()


def _in_the_scheduler(module: Any) -> None:
    real: Callable[..., Any] = module.run_scheduler_process

    @functools.wraps(real)
    def run(*args: Any, **kwargs: Any) -> Any:
        from sglang_contracts.fakes import kunlun_device

        with kunlun_device.activate():
            return real(*args, **kwargs)

    module.run_scheduler_process = run


def _count_passes(module: Any, folder: Path) -> None:
    from sglang_contracts.fakes.kunlun_device.events import State

    cls = module.ModelRunner
    real: Callable[..., Any] = cls.forward
    file = folder / f"card-{os.getpid()}.jsonl"

    def note(mode: str, tokens: int) -> None:
        recorder = State.recorder
        if recorder is None:
            found = Pass(mode, tokens, dict(_launched), {}, {}, 0, 0)
            _launched.clear()
        else:
            found = _distilled(recorder, mode, tokens)
            recorder.events.clear()
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(vars(found)) + "\n")

    @functools.wraps(real)
    def forward(this: Any, *args: Any, **kwargs: Any) -> Any:
        batch = args[0] if args else kwargs["forward_batch"]
        note("", 0)
        result = real(this, *args, **kwargs)
        note(batch.forward_mode.name, int(batch.input_ids.shape[0]))
        return result

    cls.forward = forward


def _distilled(recorder: Any, mode: str, tokens: int) -> Pass:
    from sglang_contracts.fakes.kunlun_device import Kind

    happened, kernels, places = Counter[str](), Counter[str](), Counter[str]()
    copied = 0
    for event in recorder.events:
        happened[event.kind.value] += 1
        if event.kind is Kind.KERNEL and not event.operation.startswith("aten."):
            kernels[event.operation] += 1
        if event.kind in (Kind.HOST_TO_DEVICE, Kind.DEVICE_TO_HOST, Kind.SYNCHRONISE):
            places[f"{event.kind.value}|{event.file}:{event.line}|{event.operation}"] += 1
            copied += event.nbytes
    return Pass(mode, tokens, dict(kernels), dict(happened), dict(places), copied, recorder.live)
