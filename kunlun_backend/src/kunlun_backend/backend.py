"""Attention on Kunlun: prefill and decode each on their own kernel.

The backend keeps the pools of its model runner: since 0.5.13 a batch no longer carries them, and
before that the runner's are the same objects. It holds no per-request state; what a batch needs
is built in `init_forward_metadata`, and the layers only launch kernels.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from sglang.srt.layers.attention.base_attn_backend import AttentionBackend

from kunlun_backend import compat, monitoring, sdk
from kunlun_backend.metadata import (
    DecodeMetadata,
    DecodeStorage,
    ExtendMetadata,
    PageTable,
    build_extend,
)
from kunlun_backend.request_log import RequestLog

PREFILL_KERNEL = "kunlun_ops.prefill_attention"
DECODE_KERNEL = "kunlun_ops.speculative_attention"


def _blocks(buffer: torch.Tensor, page_size: int) -> torch.Tensor:
    """View a pool's `[slots, heads, dim]` as the kernels' `[blocks, heads, page, dim]`."""
    pages = buffer.shape[0] // page_size
    blocks = buffer[: pages * page_size].view(pages, page_size, *buffer.shape[1:])
    return blocks.transpose(1, 2)


class KunlunAttentionBackend(compat.LegacyGraphHooks, AttentionBackend):
    """SGLang's attention backend for Kunlun, registered as `kunlun`.

    Of the model runner it reads `device`, `req_to_token_pool` and `token_to_kv_pool`.
    """

    def __init__(self, model_runner: Any) -> None:
        super().__init__()
        self.device = model_runner.device
        self.req_to_token_pool = model_runner.req_to_token_pool
        self.token_to_kv_pool = model_runner.token_to_kv_pool
        self.page_size: int = self.token_to_kv_pool.page_size
        self.request_log = RequestLog()
        self.forward_metadata: DecodeMetadata | ExtendMetadata | None = None
        self._ops = sdk.kernels()
        self._table = PageTable(self.req_to_token_pool.req_to_token, self.page_size)
        self._eager = DecodeStorage(self._table, self._table.rows, self.device)
        self._graph: DecodeStorage | None = None
        self._graph_views: dict[int, DecodeMetadata] = {}

    # What happens once a batch.

    def init_forward_metadata(self, forward_batch: Any) -> None:
        """Build the batch's metadata; the layers read it from `forward_metadata`."""
        if forward_batch.forward_mode.is_idle():
            self.forward_metadata = None
            return
        if forward_batch.forward_mode.is_decode():
            seq_lens_cpu = forward_batch.seq_lens_cpu
            if seq_lens_cpu is None:
                seq_lens_cpu = forward_batch.seq_lens.cpu()
            size = forward_batch.batch_size
            if size > self._eager.rows:  # padded beyond the request pool: make room, once
                self._eager = DecodeStorage(self._table, size, self.device)
            longest = int(seq_lens_cpu[:size].max()) if size else 1
            metadata = self._eager.view(size, self._table.pages(longest))
            self._eager.fill(
                metadata, forward_batch.req_pool_indices, forward_batch.seq_lens, seq_lens_cpu
            )
            self.forward_metadata = metadata
        else:
            self.forward_metadata = build_extend(forward_batch, self._table)
        self._log(forward_batch)

    def _log(self, forward_batch: Any) -> None:
        decode = isinstance(self.forward_metadata, DecodeMetadata)
        kernel = DECODE_KERNEL if decode else PREFILL_KERNEL
        monitoring.count_batch(kernel, forward_batch.forward_mode.name)
        self.request_log.record(
            kernel,
            forward_batch.forward_mode.name,
            compat.request_ids(forward_batch),
            forward_batch.batch_size,
        )

    # Graph capture: the metadata lives in one storage, at the same addresses for ever.

    def init_cuda_graph_state(self, max_bs: int, max_num_tokens: int) -> None:
        """Make the storage that captured graphs read."""
        self._graph = DecodeStorage(self._table, max_bs, self.device)
        self._graph_views = {}

    def get_cuda_graph_seq_len_fill_value(self) -> int:
        """A padding request of a captured batch has one key, on the padding page."""
        return 1

    def init_forward_metadata_out_graph(self, forward_batch: Any, in_capture: bool = False) -> None:
        """Fill the storage before a capture or a replay (0.5.13 and later)."""
        if not forward_batch.forward_mode.is_decode():
            self.init_forward_metadata(forward_batch)
            return
        self._fill_graph(
            forward_batch.batch_size,
            forward_batch.req_pool_indices,
            forward_batch.seq_lens,
            forward_batch.seq_lens_cpu,
        )
        self._log(forward_batch)

    def _fill_graph(
        self,
        batch_size: int,
        requests: torch.Tensor,
        seq_lens: torch.Tensor,
        seq_lens_cpu: torch.Tensor | None,
    ) -> None:
        """Write a decode batch into the captured storage, where every address stays."""
        if self._graph is None:
            raise RuntimeError("init_cuda_graph_state must be called before a capture")
        if batch_size not in self._graph_views:
            self._graph_views[batch_size] = self._graph.view(batch_size)
        self.forward_metadata = self._graph_views[batch_size]
        self._graph.fill(self.forward_metadata, requests, seq_lens, seq_lens_cpu)

    # What happens in every layer.

    def forward_extend(
        self,
        q: torch.Tensor,
        k: torch.Tensor | None,
        v: torch.Tensor | None,
        layer: Any,
        forward_batch: Any,
        save_kv_cache: bool = True,
        sinks: torch.Tensor | None = None,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Prefill: `q [T, H * D]` → `[T, H * Dv]`, over own tokens and cached prefix.

        Without any prefix it attends to the keys in hand; otherwise, and in layers that share
        another's keys (`k` is None), to the paged cache.
        """
        _refuse_unknown(layer, kwargs)
        k, v = self._save(k, v, layer, forward_batch, save_kv_cache)
        metadata = self.forward_metadata
        assert isinstance(metadata, ExtendMetadata)
        q = q.reshape(-1, layer.tp_q_head_num, layer.qk_head_dim)
        out = q.new_empty(q.shape[0], layer.tp_q_head_num, layer.v_head_dim)
        cached = metadata.has_prefix or k is None
        if cached:
            k, v = self._cache(layer)
        self._ops.prefill_attention(
            q=q,
            k=k,
            v=v,
            out=out,
            is_causal=True,
            is_prefix_cache=cached,
            block_table=metadata.block_tables if cached else None,
            context_qlen_lod_cpu=metadata.q_lod_cpu,
            context_qlen_lod_xpu=metadata.q_lod,
            context_kvlen_lod_cpu=metadata.kv_lod_cpu,
            context_kvlen_lod_xpu=metadata.kv_lod,
            swa_left=_window(layer),
            swa_right=0 if _window(layer) >= 0 else -1,
            sink=None if sinks is None else sinks.float(),
            alpha=layer.scaling * math.sqrt(layer.qk_head_dim),
        )
        return out.flatten(1)

    def forward_decode(
        self,
        q: torch.Tensor,
        k: torch.Tensor | None,
        v: torch.Tensor | None,
        layer: Any,
        forward_batch: Any,
        save_kv_cache: bool = True,
        sinks: torch.Tensor | None = None,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Decode: `q [B, H * D]` → `[B, H * Dv]`, one token a request over its paged cache."""
        _refuse_unknown(layer, kwargs)
        self._save(k, v, layer, forward_batch, save_kv_cache)
        metadata = self.forward_metadata
        assert isinstance(metadata, DecodeMetadata)
        q = q.reshape(-1, 1, layer.tp_q_head_num, layer.qk_head_dim)
        out = q.new_empty(q.shape[0], 1, layer.tp_q_head_num, layer.v_head_dim)
        k_cache, v_cache = self._cache(layer)
        columns, window = metadata.block_tables.shape[1], _window(layer)
        self._ops.speculative_attention(
            out=out,
            q=q,
            k_cache=k_cache,
            v_cache=v_cache,
            context_lens_cpu=metadata.context_lens_cpu,
            context_lens_xpu=metadata.context_lens,
            batch_num=q.shape[0],
            qlen=1,
            max_context_len=columns * self.page_size,
            head_num=layer.tp_q_head_num,
            head_dim=layer.qk_head_dim,
            scale=layer.scaling,
            kv_head_num=v_cache.shape[1],
            block_size=self.page_size,
            max_num_blocks_per_seq=columns,
            max_window_size=window + 1 if window >= 0 else -1,
            block_tables=metadata.block_tables,
            sink=None if sinks is None else sinks.float(),
        )
        return out.flatten(1)

    def support_triton(self) -> bool:
        """Kunlun runs no Triton kernels."""
        return False

    def _save(
        self,
        k: torch.Tensor | None,
        v: torch.Tensor | None,
        layer: Any,
        forward_batch: Any,
        save_kv_cache: bool,
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Shape the keys and values by heads and write them to their slots."""
        if k is None or v is None:
            return None, None
        k = k.reshape(-1, layer.tp_k_head_num, layer.qk_head_dim)
        v = v.reshape(-1, layer.tp_v_head_num, layer.v_head_dim)
        if save_kv_cache:
            # A bare location, by position: accepted in every release (kv-pool-mha/set_kv_buffer).
            self.token_to_kv_pool.set_kv_buffer(layer, forward_batch.out_cache_loc, k, v)
        return k, v

    def _cache(self, layer: Any) -> tuple[torch.Tensor, torch.Tensor]:
        k_buffer, v_buffer = self.token_to_kv_pool.get_kv_buffer(layer.layer_id)
        return _blocks(k_buffer, self.page_size), _blocks(v_buffer, self.page_size)


def _window(layer: Any) -> int:
    """Keys to the left that the layer sees; -1 for all."""
    return -1 if layer.sliding_window_size is None else max(-1, layer.sliding_window_size)


def _refuse_unknown(layer: Any, kwargs: dict[str, Any]) -> None:
    """Say what the kernels cannot compute, rather than computing something else."""
    given = [name for name, value in kwargs.items() if value is not None]
    if given:
        raise NotImplementedError(f"The kunlun backend does not take {', '.join(sorted(given))}.")
    if layer.logit_cap:
        raise NotImplementedError("The kunlun attention kernels have no logit cap.")
    if layer.is_cross_attention or getattr(layer.attn_type, "value", layer.attn_type) != "decoder":
        raise NotImplementedError("The kunlun backend serves causal self-attention only.")
