"""Every difference between SGLang releases that the plugin has to know, in one place.

Each entry names the contract clause that states the difference. A feature is looked for rather
than a version compared, wherever the feature itself can be seen.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Sequence
from typing import Any

import torch

# Nothing of SGLang is imported here at import: the platform is resolved while SGLang's own modules
# are still being imported.


def separates_allocation(pool_class: type) -> bool:
    """Clause `kv-pool-mha/_create_buffers_normal`: since 0.5.16 allocating is a step of its own.

    The pool's `_create_buffers` then describes what `_create_buffers_normal` allocates.
    """
    return hasattr(pool_class, "_create_buffers_normal")


def publish_pointers(pool: Any) -> None:
    """Set what the pool's own `_create_buffers` sets beside the buffers, before 0.5.16.

    Clause `kv-pool-mha/data_ptrs`: kernels that copy slots find the buffers through these.
    """
    device = pool.device
    keys = [buffer.data_ptr() for buffer in pool.k_buffer]
    values = [buffer.data_ptr() for buffer in pool.v_buffer]
    pool.k_data_ptrs = torch.tensor(keys, dtype=torch.uint64, device=device)
    pool.v_data_ptrs = torch.tensor(values, dtype=torch.uint64, device=device)
    pool.data_ptrs = torch.tensor(keys + values, dtype=torch.uint64, device=device)
    strides = [b.stride(0) * b.element_size() for b in (*pool.k_buffer, *pool.v_buffer)]
    pool.data_strides = torch.tensor(strides, device=device)


def v_head_dim(pool: Any) -> int:
    """Clause `kv-pool-mha/v_head_dim`: values have a head dim of their own since 0.5.7."""
    return int(getattr(pool, "v_head_dim", pool.head_dim))


def write_location(loc_info: Any) -> torch.Tensor:
    """Clause `kv-pool-mha/set_kv_buffer`: since 0.5.14 the pool is handed a `KVWriteLoc`."""
    loc: torch.Tensor = getattr(loc_info, "loc", loc_info)
    return loc


def request_ids(forward_batch: Any) -> Sequence[str] | None:
    """Clause `forward-batch/rids`: a batch names its requests since 0.5.11."""
    return getattr(forward_batch, "rids", None)


class LegacyGraphHooks:
    """What SGLang called around a graph until 0.5.12.

    Clause `attention-backend/init_forward_metadata_capture_cuda_graph`.
    Clause `attention-backend/init_forward_metadata_replay_cuda_graph`.
    From 0.5.13 on SGLang calls `init_forward_metadata_out_graph` instead, and these never.
    """

    def init_forward_metadata_capture_cuda_graph(
        self,
        bs: int,
        num_tokens: int,
        req_pool_indices: torch.Tensor,
        seq_lens: torch.Tensor,
        encoder_lens: torch.Tensor | None,
        forward_mode: Any,
        spec_info: Any,
    ) -> None:
        """Fill the captured storage before a capture of `bs` requests."""
        _only_decode(forward_mode, encoder_lens, spec_info)
        self._fill_graph(bs, req_pool_indices, seq_lens, None)  # type: ignore[attr-defined]  # the backend's

    def init_forward_metadata_replay_cuda_graph(
        self,
        bs: int,
        req_pool_indices: torch.Tensor,
        seq_lens: torch.Tensor,
        seq_lens_sum: int,
        encoder_lens: torch.Tensor | None,
        forward_mode: Any,
        spec_info: Any,
        seq_lens_cpu: torch.Tensor | None,
    ) -> None:
        """Fill the captured storage before a replay with `bs` requests."""
        _only_decode(forward_mode, encoder_lens, spec_info)
        self._fill_graph(bs, req_pool_indices, seq_lens, seq_lens_cpu)  # type: ignore[attr-defined]  # the backend's


def _only_decode(forward_mode: Any, encoder_lens: Any, spec_info: Any) -> None:
    if not forward_mode.is_decode() or encoder_lens is not None or spec_info is not None:
        raise NotImplementedError("The kunlun backend captures plain decoding only.")


class LegacyPlatformHooks:
    """The platform hooks that SGLang asked until 0.5.21; since then, `get_kv_pool_cls(kind=…)`."""

    def get_mha_kv_pool_cls(self) -> type:
        """Clause `platform/get_mha_kv_pool_cls`: the multi-head KV pool."""
        return self.get_kv_pool_cls(kind="mha")  # type: ignore[attr-defined,no-any-return]  # the platform's

    def get_mla_kv_pool_cls(self) -> type:
        """Clause `platform/get_mla_kv_pool_cls`: the pool of latent keys is SGLang's own."""
        from sglang.srt.mem_cache.memory_pool import MLATokenToKVPool

        return MLATokenToKVPool  # type: ignore[no-any-return]  # SGLang's, untyped here


class LegacyAllocatorState:
    """What SGLang calls to try an allocation and take it back, until 0.5.16.

    Clause `kv-allocator-paged/backup_state`, clause `kv-allocator-paged/restore_state`.
    """

    def backup_state(self) -> Any:
        """What `restore_state` needs: the free pages, and which pages are out."""
        return super().backup_state(), self._out.clone()  # type: ignore[misc,attr-defined]  # the allocator's

    def restore_state(self, state: Any) -> None:
        """Take back what was allocated since `backup_state`."""
        super().restore_state(state[0])  # type: ignore[misc]  # the allocator's
        self._out.copy_(state[1])  # type: ignore[attr-defined]  # the allocator's


def capabilities() -> Any:
    """Clause `platform/capabilities`: since 0.5.22 core reads what a platform can do off it."""
    from sglang.srt.platforms import interface

    declare = getattr(interface, "PlatformCapabilities", None)
    return declare and declare(supports_triton=False, graph_capture=False)


def triton_hooks() -> dict[str, Any]:
    """Clause `platform/support_triton`: until 0.5.21 a list of names decides who gets Triton.

    A backend that is not on the list is taken for one with Triton; so the question is answered
    by a hook. Since 0.5.22 (clause `platform/capabilities`) a capability is asked first.
    """
    from sglang.srt.platforms.interface import SRTPlatform

    asked = not hasattr(SRTPlatform, "capabilities")
    return {"sglang.srt.utils.common.support_triton": _no_triton} if asked else {}


def _no_triton(backend: str) -> bool:
    return False


def run_as_cpu_engine() -> None:
    """Clause `fused-op/RotaryEmbedding.__init__`: exempt from the CUDA kernel since 0.5.13.

    In 0.5.11 and 0.5.12 the layer imports vLLM's kernel on any device that SGLang does not know.
    Where the plugin computes on the CPU, it is the CPU engine that SGLang should run as.
    """
    try:
        release = importlib.metadata.version("sglang")
    except importlib.metadata.PackageNotFoundError:
        return
    if release.startswith(("0.5.11", "0.5.12")):
        os.environ.setdefault("SGLANG_USE_CPU_ENGINE", "1")
