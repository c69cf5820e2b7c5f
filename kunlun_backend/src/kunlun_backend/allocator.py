"""The paged allocator: SGLang's bookkeeping, Kunlun's allocation kernels."""

from __future__ import annotations

import logging

import torch
from sglang.srt.mem_cache.allocator import PagedTokenToKVPoolAllocator

from kunlun_backend import compat, sdk

logger = logging.getLogger(__name__)


class KunlunPagedTokenToKVPoolAllocator(compat.LegacyAllocatorState, PagedTokenToKVPoolAllocator):
    """Hands out KV slots by pages; also for a page size of 1.

    SGLang launches Triton kernels in `alloc_extend` and `alloc_decode` up to 0.5.21; here they are
    the SDK's. The allocator also knows which pages are out, so that a page freed twice is
    noticed and not handed to two requests.
    """

    free_pages: torch.Tensor

    def clear(self) -> None:
        """Forget every allocation."""
        super().clear()
        self._deferring = False
        self._out = torch.zeros(self.num_pages + 1, dtype=torch.bool, device=self.device)
        self._taken = torch.zeros(1, dtype=torch.int64, device=self.device)

    def alloc(self, need_size: int) -> torch.Tensor | None:
        """`need_size` slots in whole pages, or None where the pool is short."""
        slots: torch.Tensor | None = super().alloc(need_size)
        if slots is not None:
            self._out[slots[:: self.page_size] // self.page_size] = True
        return slots

    def alloc_extend(
        self,
        prefix_lens: torch.Tensor,
        prefix_lens_cpu: torch.Tensor,
        seq_lens: torch.Tensor,
        seq_lens_cpu: torch.Tensor,
        last_loc: torch.Tensor,
        extend_num_tokens: int,
        num_new_pages: int | None = None,
    ) -> torch.Tensor | None:
        """Slots for the tokens from `prefix_lens [B]` to `seq_lens [B]` of each request.

        `last_loc [B]` is the slot of each request's last token, -1 without one. Returns int64
        `[extend_num_tokens]` on the device, or None where the pool is short.
        """
        if num_new_pages is None:
            num_new_pages = int((self._pages(seq_lens_cpu) - self._pages(prefix_lens_cpu)).sum())
        if not self._has(num_new_pages):
            return None
        out = torch.empty(extend_num_tokens, dtype=torch.int64, device=self.device)
        sdk.operators().alloc_extend(
            prefix_lens,
            seq_lens,
            last_loc,
            self.free_pages,
            prefix_lens.shape[0],
            self.page_size,
            extend_num_tokens,
            out,
            self._taken,
        )
        self._take(num_new_pages)
        return out

    def alloc_decode(
        self, seq_lens: torch.Tensor, seq_lens_cpu: torch.Tensor, last_loc: torch.Tensor
    ) -> torch.Tensor | None:
        """One slot for each request, whose lengths `seq_lens [B]` include the new token."""
        num_new_pages = int((self._pages(seq_lens_cpu) - self._pages(seq_lens_cpu - 1)).sum())
        if not self._has(num_new_pages):
            return None
        size = seq_lens.shape[0]
        out = torch.empty(size, dtype=torch.int64, device=self.device)
        sdk.operators().alloc_decode_kernel(
            seq_lens,
            last_loc,
            self.free_pages,
            out,
            1 << (size - 1).bit_length() if size else 0,
            self.page_size,
            size,
        )
        self._take(num_new_pages)
        return out

    def free_group_begin(self) -> None:
        """Defer what is freed from here on."""
        super().free_group_begin()
        self._deferring = True

    def free_group_end(self) -> None:
        """Free what was deferred: SGLang hands it to `free` in one piece."""
        self._deferring = False
        super().free_group_end()

    def free(self, free_index: torch.Tensor) -> None:
        """Give back the pages of the slots `free_index`; a page that is not out is left alone."""
        if free_index.numel() == 0:
            return
        if self._deferring:
            super().free(free_index)
            return
        pages = free_index // self.page_size
        owned = self._out[pages]
        kept = free_index[owned]
        again = free_index.numel() - kept.numel()
        if again:
            logger.error("%d of %d KV slots to free are free", again, free_index.numel())
        self._out[pages] = False
        super().free(kept)

    def free_segment(self, free_index: torch.Tensor, *, start_pos: int) -> None:
        """A request's slots (since 0.5.17): SGLang's own passes `free` and its book by."""
        self.free(free_index)

    def _pages(self, lens: torch.Tensor) -> torch.Tensor:
        return -(-lens // self.page_size)

    def _has(self, pages: int) -> bool:
        if pages > len(self.free_pages):
            self.merge_and_sort_free()
        return pages <= len(self.free_pages)

    def _take(self, pages: int) -> None:
        self._out[self.free_pages[:pages]] = True
        self.free_pages = self.free_pages[pages:]
