"""The KV pool: every layer's keys and values in one piece of device memory, reserved at start."""

from __future__ import annotations

from typing import Any

import torch
from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

from kunlun_backend import compat, sdk


class KunlunMHATokenToKVPool(MHATokenToKVPool):
    """SGLang's multi-head KV pool, written by the Kunlun cache kernel.

    The layout is SGLang's own, `[size + page_size, heads, dim]` a layer; slot 0 (its page) takes
    the writes of padding tokens. The pool reserves all of it at once and never grows.
    """

    arena: torch.Tensor | None = None  # every buffer of `k_buffer` and `v_buffer` is a view of it

    def _create_buffers(self) -> None:
        if compat.separates_allocation(MHATokenToKVPool):
            super()._create_buffers()  # describes the buffers that _create_buffers_normal makes
        else:
            self._create_buffers_normal()
            compat.publish_pointers(self)
        # The cache kernel reads slots of 32 bits; SGLang's are 64. Narrowed here, they cost no
        # allocation in a layer.
        self._slots = torch.zeros(self.size + self.page_size, dtype=torch.int32, device=self.device)

    def _create_buffers_normal(self) -> None:
        """Reserve the arena and cut the layers' buffers from it."""
        if self.store_dtype != self.dtype:
            raise ValueError(
                f"--kv-cache-dtype {self.dtype}: the Kunlun cache kernels store bfloat16, float16 "
                "and float32 only."
            )
        rows = self.size + self.page_size
        k_width = self.head_num * self.head_dim
        v_width = self.head_num * compat.v_head_dim(self)
        self.arena = torch.zeros(
            self.layer_num * rows * (k_width + v_width), dtype=self.store_dtype, device=self.device
        )
        keys, values = torch.split(
            self.arena, [self.layer_num * rows * k_width, self.layer_num * rows * v_width]
        )
        self.k_buffer = list(keys.view(self.layer_num, rows, self.head_num, -1).unbind(0))
        self.v_buffer = list(values.view(self.layer_num, rows, self.head_num, -1).unbind(0))

    def _init_kv_copy_and_warmup(self) -> None:
        """SGLang prepares a Triton copy kernel here; `move_kv_cache` does without."""
        self._kv_copy_config = None

    def set_kv_buffer(
        self,
        layer: Any,
        loc_info: Any,
        cache_k: torch.Tensor,
        cache_v: torch.Tensor,
        k_scale: float | None = None,
        v_scale: float | None = None,
        layer_id_override: int | None = None,
        dcp_kv_mask: torch.Tensor | None = None,
    ) -> None:
        """Write `cache_k [T, Hkv, D]` and `cache_v [T, Hkv, Dv]` to their slots.

        `loc_info` is int64 `[T]`, or a record that carries it as `loc` (`compat.write_location`).
        """
        if dcp_kv_mask is not None:
            raise NotImplementedError("The Kunlun KV pool has no decode context parallelism.")
        chosen = layer.layer_id if layer_id_override is None else layer_id_override
        index = chosen - self.start_layer
        slots = compat.write_location(loc_info)
        if slots.shape[0] <= self._slots.shape[0]:
            slots = self._slots[: slots.shape[0]].copy_(slots)
        else:  # more padding tokens than the pool has slots
            slots = slots.to(torch.int32)
        if cache_k.dtype != self.dtype:  # as SGLang's own pool: scales count where it converts
            cache_k = (cache_k if k_scale is None else cache_k / k_scale).to(self.dtype)
            cache_v = (cache_v if v_scale is None else cache_v / v_scale).to(self.dtype)
        stored = self.k_buffer[index], self.v_buffer[index]
        sdk.kernels().reshape_and_cache(cache_k, cache_v, *stored, slots, None, None, 0)

    def move_kv_cache(self, tgt_loc: torch.Tensor, src_loc: torch.Tensor) -> None:
        """Copy slots `src_loc [N]` to `tgt_loc [N]` in every layer, on the device."""
        for buffer in (*self.k_buffer, *self.v_buffer):
            buffer[tgt_loc] = buffer[src_loc]

    def get_cpu_copy(
        self, indices: torch.Tensor, mamba_indices: Any = None, req_pool_index: Any = None
    ) -> list[torch.Tensor]:
        """Offload the slots `indices` of a retracted request to the host."""
        return [buffer[indices].cpu() for buffer in (*self.k_buffer, *self.v_buffer)]

    def load_cpu_copy(
        self,
        kv_cache_cpu: list[torch.Tensor],
        indices: torch.Tensor,
        mamba_indices: Any = None,
        req_pool_index: Any = None,
    ) -> None:
        """Bring back what `get_cpu_copy` offloaded, into the slots `indices`."""
        for buffer, rows in zip((*self.k_buffer, *self.v_buffer), kv_cache_cpu, strict=True):
            buffer[indices] = rows.to(buffer.device)
