"""The code behind the tables of :mod:`~sglang_contracts.live.standins`.

``PATCHES`` maps a module to what is added to it after import. ``MODULES`` maps a stand-in module to
what is put into it where SGLang calls it for real on a device that is neither CUDA nor CPU: there
a stand-in is not enough, and a plain torch version of the same mathematics is given.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sglang_contracts.live.stand_in_module import StandInModule
from sglang_contracts.live.standins import UNCOMPILED


def _triton_cache(module: Any) -> None:
    def folder(name: str) -> str:
        return str(Path(os.environ.get("TRITON_HOME", str(Path.home()))) / ".triton" / name)

    for function, name in (
        ("default_cache_dir", "cache"),
        ("default_dump_dir", "dump"),
        ("default_override_dir", "override"),
    ):
        if not hasattr(module, function):
            setattr(module, function, lambda name=name: folder(name))


def _torch(module: Any) -> None:
    cpu = getattr(module._C, "_cpu", None)
    if cpu is not None and not hasattr(cpu, "_is_amx_tile_supported"):
        cpu._is_amx_tile_supported = lambda: False


def _cpp_extension(module: Any) -> None:
    real = module.load

    def load(name: str, *args: Any, **kwargs: Any) -> Any:
        if name in UNCOMPILED:
            return StandInModule(name)
        return real(name, *args, **kwargs)

    module.load = load


def _torchvision(module: Any) -> None:
    if module._has_ops():
        return
    import torch

    # Kept on the module: a Library that is collected takes its schemas with it.
    module._sglang_contracts_library = library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in (
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, "
        "int pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    ):
        library.define(schema)


class PaddedKernel:
    """An interpreted Triton kernel that may read past the end of its list of free pages.

    Core launches its allocation kernels before it looks whether the pages suffice, and throws away
    what they gave where they do not. A card reads something there; the interpreter reads the
    process' own memory, and address 0 where no page at all is free. What it reads is zeros here.

    Args:
        kernel: The kernel.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._names = list(inspect.signature(kernel.fn).parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        def launch(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(self._names, args, strict=False)) | kwargs
            pages, slots = given["free_page_ptr"], given["out_indices"]
            given["free_page_ptr"] = pages.new_zeros(len(pages) + len(slots) + 1)
            given["free_page_ptr"][: len(pages)] = pages
            return self._kernel[grid](**given)

        return launch


def _allocation_kernels(module: Any) -> None:
    for name in ("alloc_extend_kernel", "alloc_decode_kernel"):
        kernel: Any = getattr(module, name, None)
        if type(kernel).__name__ != "InterpretedFunction":
            continue
        if {"free_page_ptr", "out_indices"} <= {*inspect.signature(kernel.fn).parameters}:
            setattr(module, name, PaddedKernel(kernel))


PATCHES: dict[str, tuple[Callable[[Any], None], ...]] = {
    "triton.runtime.cache": (_triton_cache,),
    "torch": (_torch,),
    "torch.utils.cpp_extension": (_cpp_extension,),
    "torchvision.extension": (_torchvision,),
    "sglang.srt.mem_cache.paged_allocator": (_allocation_kernels,),
    "sglang.srt.mem_cache.allocator": (_allocation_kernels,),
    "sglang.srt.mem_cache.triton_ops.allocator": (_allocation_kernels,),
    "sglang.kernels.ops.memory.allocator": (_allocation_kernels,),
}


def _vllm_layernorm(module: Any) -> None:
    import torch

    class RMSNorm(torch.nn.Module):  # type: ignore[misc]
        """RMS normalisation over the last axis, with an optional residual added first."""

        offset = 0.0

        def __init__(self, hidden_size: int, eps: float = 1e-6, **_: Any) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(hidden_size))
            self.variance_epsilon = eps

        def forward(self, x: torch.Tensor, residual: torch.Tensor | None = None) -> Any:
            summed = x.float() if residual is None else x.float() + residual.float()
            scale = torch.rsqrt(summed.square().mean(-1, keepdim=True) + self.variance_epsilon)
            if self.offset:
                out = (summed * scale * (self.offset + self.weight.float())).to(x.dtype)
            else:
                out = (summed * scale).to(x.dtype) * self.weight
            return out if residual is None else (out, summed.to(x.dtype))

    class GemmaRMSNorm(RMSNorm):
        """The same with weights stored as their distance from one."""

        offset = 1.0

    module.RMSNorm, module.GemmaRMSNorm = RMSNorm, GemmaRMSNorm


def _vllm_activation(module: Any) -> None:
    import torch

    class SiluAndMul(torch.nn.Module):  # type: ignore[misc]
        """``silu(first half) * second half`` of the last axis."""

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            gate, up = x.chunk(2, dim=-1)
            return torch.nn.functional.silu(gate) * up

    class GeluAndMul(torch.nn.Module):  # type: ignore[misc]
        """``gelu(first half) * second half`` of the last axis."""

        def __init__(self, approximate: str = "none") -> None:
            super().__init__()
            self.approximate = approximate

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            gate, up = x.chunk(2, dim=-1)
            return torch.nn.functional.gelu(gate, approximate=self.approximate) * up

    module.SiluAndMul, module.GeluAndMul = SiluAndMul, GeluAndMul


MODULES: dict[str, Callable[[Any], None]] = {
    "vllm.model_executor.layers.layernorm": _vllm_layernorm,
    "vllm.model_executor.layers.activation": _vllm_activation,
}
