"""The platform class; apart from `platform`, so that declining imports nothing of SGLang."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import torch
from sglang.srt.platforms.interface import PlatformEnum, SRTPlatform

from kunlun_backend import BACKEND_NAME, compat, kernel_cache, sdk


class KunlunSRTPlatform(compat.LegacyPlatformHooks, SRTPlatform):
    """Kunlun as an out-of-tree platform of SGLang."""

    _enum = PlatformEnum.OOT
    device_name = "kunlun"
    device_type = sdk.device_type()
    capabilities = compat.capabilities()
    supported_quantization: ClassVar[list[str]] = ["w8a8_int8"]

    def init_backend(self) -> None:
        """Once in each worker: the kernel cache must be usable before the first kernel."""
        kernel_cache.prepare()

    def get_default_attention_backend(self) -> str:
        """The registered name of the attention backend."""
        return BACKEND_NAME

    def get_kv_pool_cls(self, *, kind: str) -> type | None:
        """The KV pool for `kind`; None leaves SGLang's own (0.5.22 and later)."""
        from kunlun_backend.pool import KunlunMHATokenToKVPool

        return KunlunMHATokenToKVPool if kind == "mha" else None

    def get_paged_allocator_cls(self) -> type:
        """The paged allocator, at every page size."""
        from kunlun_backend.allocator import KunlunPagedTokenToKVPoolAllocator

        return KunlunPagedTokenToKVPoolAllocator

    def get_quantization_config(self, quantization: str) -> type | None:
        """Kunlun's way of `w8a8_int8`; None leaves SGLang's own for the others."""
        if quantization != "w8a8_int8":
            return None
        from kunlun_backend.quantization import KunlunInt8Config

        return KunlunInt8Config

    def get_device_total_memory(self, device_id: int = 0) -> int:
        """Memory of the card in bytes."""
        return self.get_available_memory(device_id)[1]

    def get_available_memory(self, device_id: int = 0) -> tuple[int, int]:
        """Free and total memory of the card in bytes; of the host where the host computes."""
        if self.device_type == "cpu":
            return _host_memory()
        free, total = self._module().mem_get_info(device_id)
        return int(free), int(total)

    def get_current_memory_usage(self, device: torch.device | None = None) -> float:
        """Bytes in use by this process."""
        if self.device_type == "cpu":
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            return float(pages * os.sysconf("SC_PAGE_SIZE"))
        return float(self._module().memory_allocated(device))

    def get_device(self, device_id: int = 0) -> Any:
        """The device of a rank (clause `platform/get_device`: a string since 0.5.13)."""
        return self.device_type if self.device_type == "cpu" else f"{self.device_type}:{device_id}"

    def set_device(self, device: Any) -> None:
        """Make `device` the current one of this thread."""
        if self.device_type != "cpu":
            self._module().set_device(device)

    def synchronize(self) -> None:
        """Wait for the card."""
        if self.device_type != "cpu":
            self._module().synchronize()

    def empty_cache(self) -> None:
        """Return cached blocks to the driver."""
        if self.device_type != "cpu":
            self._module().empty_cache()

    def is_pin_memory_available(self, device: Any = None) -> bool:
        """Pinned memory needs the card's driver."""
        return self.device_type != "cpu" and sdk.pins_memory()

    def get_torch_distributed_backend_str(self) -> str:
        """The process group's backend: gloo between host processes, the vendor's on cards."""
        return "gloo" if self.device_type == "cpu" else sdk.collective_backend()

    def _module(self) -> Any:
        return torch.get_device_module(self.device_type)


def _host_memory() -> tuple[int, int]:
    """Bytes that can be had, and all of them; Kunlun's hosts run Linux, with or without psutil."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    kib = {name: int(size) for name, size, *_ in map(str.split, lines)}
    return kib["MemAvailable:"] << 10, kib["MemTotal:"] << 10
