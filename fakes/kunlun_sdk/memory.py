"""KV-cache writes and the allocation kernels of the SDK."""

from __future__ import annotations

import torch
from sglang_contracts.fakes.kunlun_sdk.launch import kernel


@kernel("kunlun_ops")
def reshape_and_cache(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    key_scale: torch.Tensor | None = None,
    value_scale: torch.Tensor | None = None,
    layout: int = 0,
) -> None:
    """Write the keys and values of a step to their slots.

    Args:
        key: `[T, Hkv, D]`.
        value: `[T, Hkv, Dv]`.
        key_cache: `[blocks, Hkv, block size, D]` or `[slots, Hkv, D]`, written.
        value_cache: As `key_cache`, with `Dv`.
        slot_mapping: int32 `[T]`: the slot of each token.
        key_scale: A quantised cache is not served by the shim.
        value_scale: The same for values.
        layout: 0 is the only one.

    Raises:
        NotImplementedError: A scale or another layout is given.
        TypeError: `slot_mapping` is not int32: the kernel reads 32 bits a slot.
    """
    if key_scale is not None or value_scale is not None or layout != 0:
        raise NotImplementedError("kunlun_ops.reshape_and_cache: no quantised cache in the shim")
    if slot_mapping.dtype != torch.int32:
        raise TypeError(
            f"kunlun_ops.reshape_and_cache: slot_mapping must be int32, got {slot_mapping.dtype}"
        )
    slots = slot_mapping.long()
    for cache, rows in ((key_cache, key), (value_cache, value)):
        if cache.dim() == 3:
            cache[slots] = rows.to(cache.dtype)
        else:
            block = cache.shape[2]
            cache[slots // block, :, slots % block] = rows.to(cache.dtype)


def alloc_extend(
    prefix_lens: torch.Tensor,
    seq_lens: torch.Tensor,
    last_loc: torch.Tensor,
    free_pages: torch.Tensor,
    bs: int,
    page_size: int,
    extend_num_tokens: int,
    out: torch.Tensor,
    ret_value: torch.Tensor,
) -> None:
    """Place each request's new tokens: first in its last page, then in fresh pages, in order.

    Args:
        prefix_lens: int64 `[bs]`, tokens that each request already has.
        seq_lens: int64 `[bs]`, tokens after this step.
        last_loc: int64 `[bs]`, slot of each request's last token; -1 without one.
        free_pages: int64, at least as many as are needed, taken from the front.
        bs: Requests.
        page_size: Slots of a page.
        extend_num_tokens: Sum of the new tokens.
        out: int64 `[extend_num_tokens]`, the slots, written.
        ret_value: int64 `[1]`: the pages taken in the upper 32 bits, written.
    """
    new = seq_lens - prefix_lens
    pages_before = (prefix_lens + page_size - 1) // page_size
    new_pages = (seq_lens + page_size - 1) // page_size - pages_before
    ret_value.copy_(new_pages.sum().reshape(1) << 32)
    if extend_num_tokens == 0:
        return
    ends = new.cumsum(0)
    tokens = torch.arange(extend_num_tokens, device=out.device)
    owner = torch.searchsorted(ends, tokens, right=True).clamp(max=bs - 1)
    position = prefix_lens[owner] + tokens - (ends - new)[owner]
    first_new_page = new_pages.cumsum(0) - new_pages
    page = position // page_size - pages_before[owner]  # negative: still in the old last page
    in_last = last_loc[owner] + 1 + position - prefix_lens[owner]
    if free_pages.numel() == 0:
        out.copy_(in_last)
        return
    rank = (first_new_page[owner] + page).clamp(min=0, max=free_pages.numel() - 1)
    fresh = free_pages[rank] * page_size + position % page_size
    out.copy_(torch.where(page < 0, in_last, fresh))


def alloc_decode_kernel(
    seq_lens: torch.Tensor,
    last_loc: torch.Tensor,
    free_pages: torch.Tensor,
    out: torch.Tensor,
    bs_upper: int,
    page_size: int,
    bs: int,
) -> None:
    """Place one new token for each request: behind its last one, or on a fresh page.

    Args:
        seq_lens: int64 `[bs]`, tokens with the new one.
        last_loc: int64 `[bs]`, slot of each request's last token.
        free_pages: int64, at least as many as are needed, taken from the front.
        out: int64 `[bs]`, the slots, written.
        bs_upper: Power of two that the card launches; no effect here.
        page_size: Slots of a page.
        bs: Requests.
    """
    del bs_upper
    if bs == 0:
        return
    fresh = (seq_lens - 1) % page_size == 0
    if free_pages.numel() == 0:
        out.copy_(last_loc + 1)
        return
    rank = (fresh.long().cumsum(0) - 1).clamp(min=0, max=free_pages.numel() - 1)
    out.copy_(torch.where(fresh, free_pages[rank] * page_size, last_loc + 1))
