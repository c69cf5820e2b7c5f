"""What the attention kernels need of a batch, as vectors on the device, built once a batch.

Nothing here loops over requests or tokens. Lengths that the scheduler knows on the host are taken
from there, so building metadata costs no synchronisation; only a batch that comes without them
pays one for each missing vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class ExtendMetadata:
    """A batch with several query tokens a request (prefill, chunk, mixed)."""

    q_lod: torch.Tensor  # int32 [B + 1], cumulative query lengths, on the device …
    q_lod_cpu: torch.Tensor  # … and on the host
    kv_lod: torch.Tensor  # int32 [B + 1], cumulative lengths with the cached prefix
    kv_lod_cpu: torch.Tensor
    block_tables: torch.Tensor  # int32 [B, N], the pages of each request
    has_prefix: bool  # some request has tokens in the cache already


@dataclass(frozen=True)
class DecodeMetadata:
    """A batch with one query token a request."""

    context_lens: torch.Tensor  # int32 [B], keys of each request with its new one
    context_lens_cpu: torch.Tensor
    block_tables: torch.Tensor  # int32 [B, N], the pages of each request


class PageTable:
    """Reads the pages of requests out of `ReqToTokenPool.req_to_token`, int32 `[rows, width]`."""

    def __init__(self, req_to_token: torch.Tensor, page_size: int) -> None:
        self.page_size = page_size
        self.rows: int = req_to_token.shape[0]
        self.columns: int = -(-req_to_token.shape[1] // page_size)
        # The first token of a page stands on the page's first slot.
        self._first_slots = req_to_token[:, ::page_size]

    def pages(self, longest: int) -> int:
        """Columns that a request of `longest` tokens needs, at least one."""
        return min(self.columns, max(1, -(-longest // self.page_size)))

    def fill(self, requests: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """Write the first `out.shape[1]` pages of `requests [B]` into `out [B, N]`."""
        first_slots = self._first_slots[:, : out.shape[1]]
        torch.index_select(first_slots, 0, requests, out=out)
        return out.floor_divide_(self.page_size) if self.page_size > 1 else out


class DecodeStorage:
    """Memory for decode metadata of up to `rows` requests, made once: decoding allocates nothing.

    One instance serves eager decoding, another graph capture; the views that the latter hands
    out for a batch size keep their addresses, so a captured graph stays valid.
    """

    def __init__(self, table: PageTable, rows: int, device: torch.device | str) -> None:
        self.table = table
        self.rows = rows
        # Filled with what is safe to read: one key a request, on the padding page.
        self._lens = torch.ones(rows, dtype=torch.int32, device=device)
        self._lens_cpu = torch.ones(rows, dtype=torch.int32)
        self._pages = torch.zeros(rows * table.columns, dtype=torch.int32, device=device)

    def view(self, batch_size: int, columns: int | None = None) -> DecodeMetadata:
        """The storage's front as metadata of `batch_size` requests; `columns` all by default."""
        columns = self.table.columns if columns is None else columns
        return DecodeMetadata(
            context_lens=self._lens[:batch_size],
            context_lens_cpu=self._lens_cpu[:batch_size],
            block_tables=self._pages[: batch_size * columns].view(batch_size, columns),
        )

    def fill(
        self,
        metadata: DecodeMetadata,
        requests: torch.Tensor,
        seq_lens: torch.Tensor,
        seq_lens_cpu: torch.Tensor | None,
    ) -> None:
        """Write a batch's `requests [B]` and lengths `[B]` into a view of this storage, in place.

        Without the lengths' host copy, one transfer is paid.
        """
        size = metadata.context_lens.shape[0]
        metadata.context_lens.copy_(seq_lens[:size])
        host = seq_lens if seq_lens_cpu is None else seq_lens_cpu
        metadata.context_lens_cpu.copy_(host[:size])
        self.table.fill(requests[:size], metadata.block_tables)


def _host_lod(lens: Any) -> torch.Tensor:
    """int32 `[B + 1]` of the lengths on the host, given as a list or a tensor of any device."""
    lens = torch.as_tensor(lens, dtype=torch.int32, device="cpu")
    return torch.nn.functional.pad(lens.cumsum(0, dtype=torch.int32), (1, 0))


def _device_lod(lens: torch.Tensor, device: torch.device) -> torch.Tensor:
    """int32 `[B + 1]` of lengths on the device, without the host."""
    lod = torch.zeros(lens.shape[0] + 1, dtype=torch.int32, device=device)
    torch.cumsum(lens, 0, dtype=torch.int32, out=lod[1:])
    return lod


def build_extend(forward_batch: Any, table: PageTable) -> ExtendMetadata:
    """Metadata of a batch in an extend mode, from its lengths and their host copies.

    Raises:
        NotImplementedError: The batch has no extend lengths (verification of draft tokens).
    """
    extend_lens = forward_batch.extend_seq_lens
    prefix_lens = forward_batch.extend_prefix_lens
    if extend_lens is None or prefix_lens is None:
        raise NotImplementedError(
            f"The kunlun backend does not serve {forward_batch.forward_mode.name}: "
            "the batch has no extend lengths."
        )
    extend_cpu = forward_batch.extend_seq_lens_cpu
    prefix_cpu = forward_batch.extend_prefix_lens_cpu
    q_lod_cpu = _host_lod(extend_lens if extend_cpu is None else extend_cpu)
    prefix_lod_cpu = _host_lod(prefix_lens if prefix_cpu is None else prefix_cpu)
    kv_lod_cpu = q_lod_cpu + prefix_lod_cpu
    requests = forward_batch.req_pool_indices
    columns = table.pages(int(kv_lod_cpu.diff().max())) if kv_lod_cpu.numel() > 1 else 1
    block_tables = torch.empty(
        (requests.shape[0], columns), dtype=torch.int32, device=requests.device
    )
    return ExtendMetadata(
        q_lod=_device_lod(extend_lens, requests.device),
        q_lod_cpu=q_lod_cpu,
        kv_lod=_device_lod(extend_lens + prefix_lens, requests.device),
        kv_lod_cpu=kv_lod_cpu,
        block_tables=table.fill(requests, block_tables),
        has_prefix=bool(prefix_lod_cpu[-1] > 0),
    )
