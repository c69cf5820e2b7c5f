"""The token-to-KV allocators: page size 1 and N.

Page 0 is for the writes of padding tokens and is never handed out. What is freed goes back into one
list or, with ``need_sort``, waits apart until an allocation runs short. Releases differ in how they
keep the lists (``free_slots``, ``release_pages``, ``staged_pages``) and in the calls they offer;
both are asked of the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import BY_RESULT, Given, Method, function, method

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_BASE, _TOKEN, _PAGED = (
    "BaseTokenToKVPoolAllocator",
    "TokenToKVPoolAllocator",
    "PagedTokenToKVPoolAllocator",
)
# Up to 0.4.7 the one for page size 1 has no base class of its own: it answers for all of it.
_ALL = (_BASE, _TOKEN, _PAGED)

BY_RESULT.add(_BASE)


def _everywhere(*names: str) -> Callable[[Method], Method]:
    """:func:`behaviour.method` for all three classes."""

    def attach(body: Method) -> Method:
        for owner in _ALL:
            method(owner, *names)(body)
        return body

    return attach


@_everywhere("__init__")
def _init(fake: Fake, self: Any, given: Given) -> None:
    page_size = given.get("page_size", 1)
    fake.assign(
        self,
        size=given["size"],
        page_size=page_size,
        dtype=given["dtype"],
        device=given["device"],
        _kvcache=given["kvcache"],
        # Between the sorted free list and the choice to have none lay three releases that always
        # kept freed pages apart.
        need_sort=given.get("need_sort", True),
        num_pages=given["size"] // page_size,
        debug_mode=False,
        use_triton_kernels=False,
        seen_max_num_extend_tokens_next_power_of_2=1,
    )
    if not fake.records(self, "need_sort"):
        self.__dict__["need_sort"] = fake.records(self, "release_pages")


@method(_TOKEN, "__init__")
@method(_PAGED, "__init__")
def _init_and_clear(fake: Fake, self: Any, given: Given) -> None:
    _init(fake, self, given)
    self.clear()


def _list_name(fake: Fake, self: Any) -> str:
    return "free_pages" if fake.records(self, "free_pages") else "free_slots"


def _free_list(fake: Fake, self: Any) -> Any:
    return getattr(self, _list_name(fake, self))


def _set_free_list(fake: Fake, self: Any, pages: Any) -> None:
    setattr(self, _list_name(fake, self), pages)


@_everywhere("clear")
def _clear(fake: Fake, self: Any, given: Given) -> None:
    import torch

    count = self.size // self.page_size
    first = torch.arange(1, count + 1, dtype=torch.int64, device=self.device)
    _set_free_list(fake, self, first)
    fake.assign(
        self,
        release_pages=torch.empty((0,), dtype=torch.int64, device=self.device),
        staged_pages=[],
        num_staged_pages=0,
        free_page_ids_group=[],
        free_page_reps_group=[],
    )
    _end_group(fake, self)


def _end_group(fake: Fake, self: Any) -> None:
    if fake.records(self, "is_not_in_free_group"):
        self.is_not_in_free_group, self.free_group = True, []
    else:
        self.free_group = None


def _in_group(fake: Fake, self: Any) -> bool:
    if fake.records(self, "is_not_in_free_group"):
        return not self.is_not_in_free_group
    return self.free_group is not None


def _waiting(fake: Fake, self: Any) -> int:
    if fake.records(self, "staged_pages"):
        return int(self.num_staged_pages)
    return len(self.release_pages) if fake.records(self, "release_pages") else 0


@_everywhere("available_size")
def _available_size(fake: Fake, self: Any, given: Given) -> int:
    return (len(_free_list(fake, self)) + _waiting(fake, self)) * int(self.page_size)


@_everywhere("get_kvcache")
def _get_kvcache(fake: Fake, self: Any, given: Given) -> Any:
    return self._kvcache


@_everywhere("debug_print")
def _debug_print(fake: Fake, self: Any, given: Given) -> str:
    return ""


@_everywhere("backup_state")
def _backup_state(fake: Fake, self: Any, given: Given) -> Any:
    if not fake.records(self, "release_pages"):
        return _free_list(fake, self)
    return (self.free_pages, self.release_pages)


@_everywhere("restore_state")
def _restore_state(fake: Fake, self: Any, given: Given) -> None:
    (state,) = given.values()
    if not fake.records(self, "release_pages"):
        _set_free_list(fake, self, state)
    else:
        self.free_pages, self.release_pages = state


@_everywhere("get_all_free_pages")
def _get_all_free_pages(fake: Fake, self: Any, given: Given) -> Any:
    import torch

    pages = _free_list(fake, self)
    if pages is None:
        return None
    if fake.records(self, "staged_pages"):
        return torch.cat((pages, *self.staged_pages))
    return torch.cat((pages, self.release_pages)) if len(self.release_pages) else pages


@_everywhere("merge_and_sort_free")
def _merge_and_sort_free(fake: Fake, self: Any, given: Given) -> None:
    import torch

    if fake.records(self, "staged_pages"):
        if self.staged_pages:
            self.free_pages = torch.sort(torch.cat((self.free_pages, *self.staged_pages))).values
            self.staged_pages, self.num_staged_pages = [], 0
    elif len(self.release_pages):
        self.free_pages = torch.sort(torch.cat((self.free_pages, self.release_pages))).values
        self.release_pages = self.release_pages[:0]


@_everywhere("resize")
def _resize(fake: Fake, self: Any, given: Given) -> None:
    self.size = given["config"].max_total_num_tokens
    if self.page_size > 1:
        self.num_pages = self.size // self.page_size
    self.clear()


@_everywhere("get_cpu_copy", "load_cpu_copy")
def _cpu_copy(fake: Fake, self: Any, given: Given) -> Any:
    # As the release does: the tensors by position, whatever the pool calls them; the rest by name.
    named = {n: value for n, value in given.items() if n not in ("kv_cache_cpu", "indices")}
    if "kv_cache_cpu" in given:
        return self._kvcache.load_cpu_copy(given["kv_cache_cpu"], given["indices"], **named)
    return self._kvcache.get_cpu_copy(given["indices"], **named)


# -- taking ----


def _take(fake: Fake, self: Any, count: int) -> Any:
    """The first ``count`` entries of the free list, removed from it; None where it is short."""
    pages = _free_list(fake, self)
    if count > len(pages):
        return None
    _set_free_list(fake, self, pages[count:])
    return pages[:count]


def _sorts(self: Any) -> bool:
    return bool(self.need_sort)


@_everywhere("alloc")
def _alloc(fake: Fake, self: Any, given: Given) -> Any:
    import torch

    count = given["need_size"] // self.page_size
    if _sorts(self) and count > len(_free_list(fake, self)):
        self.merge_and_sort_free()
    pages = _take(fake, self, count)
    if pages is None or self.page_size == 1:
        return pages
    inside = torch.arange(self.page_size, device=self.device)
    return (pages[:, None] * self.page_size + inside).reshape(-1)


def _pages_of(lens: Any, page_size: int) -> Any:
    return (lens + page_size - 1) // page_size


@method(_PAGED, "alloc_extend")
def _alloc_extend(fake: Fake, self: Any, given: Given) -> Any:
    size, count = self.page_size, given["extend_num_tokens"]
    prefix, total, last = given["prefix_lens"], given["seq_lens"], given["last_loc"]
    if _sorts(self) and count // size + len(prefix) + 1 > len(_free_list(fake, self)):
        self.merge_and_sort_free()
    needed = given.get("num_new_pages")
    if needed is None:
        # On the host where the release hands over host copies: no look at the device then.
        after = given.get("seq_lens_cpu", total)
        before = given.get("prefix_lens_cpu", prefix)
        needed = int((_pages_of(after, size) - _pages_of(before, size)).sum())
    free = _take(fake, self, needed)
    return None if free is None else spread(prefix, total, last, free, size, count)


@method(_PAGED, "alloc_decode")
def _alloc_decode(fake: Fake, self: Any, given: Given) -> Any:
    size, total, last = self.page_size, given["seq_lens"], given["last_loc"]
    if _sorts(self) and len(total) > len(_free_list(fake, self)):
        self.merge_and_sort_free()
    after: Any = given.get("seq_lens_cpu", total)
    needed = int((_pages_of(after, size) - _pages_of(after - 1, size)).sum())
    free = _take(fake, self, needed)
    return None if free is None else spread(total - 1, total, last, free, size, len(total))


def spread(prefix: Any, total: Any, last: Any, free: Any, size: int, count: int) -> Any:
    """Slots for the tokens ``prefix … total`` of each request, in batch order.

    A request first fills the page its last token lies in, then takes pages off ``free`` in order.

    Args:
        prefix: int64 ``[B]``, tokens each has.
        total: int64 ``[B]``, tokens each has afterwards.
        last: int64 ``[B]``, slot of each one's last token.
        free: int64 page numbers, as many as are needed.
        size: Slots of a page.
        count: Sum of the new tokens.

    Returns:
        int64 ``[count]``.
    """
    import torch

    new = total - prefix
    index = torch.arange(len(new), device=new.device)
    row = torch.repeat_interleave(index, new, output_size=count)
    start = torch.cumsum(new, 0) - new
    offset = torch.arange(count, device=new.device) - start[row]
    position = prefix[row] + offset
    begun = _pages_of(prefix, size)
    slots = last[row] + 1 + offset
    if len(free) == 0:
        return slots
    taken = _pages_of(total, size) - begun
    page = (torch.cumsum(taken, 0) - taken)[row] + position // size - begun[row]
    fresh = free[page.clamp(min=0, max=len(free) - 1)] * size + position % size
    return torch.where(position < begun[row] * size, slots, fresh)


@function("sglang.srt.mem_cache.allocator", "alloc_extend_naive")
@function("sglang.srt.mem_cache.allocator.paged", "alloc_extend_naive")
def _alloc_extend_naive(fake: Fake, given: Given) -> None:
    out, size = given["out_indices"], given["page_size"]
    prefix, total = given["prefix_lens"], given["seq_lens"]
    out.copy_(spread(prefix, total, given["last_loc"], given["free_pages"], size, len(out)))


# -- giving back ----


def _release(fake: Fake, self: Any, *pages: Any) -> None:
    import torch

    if fake.records(self, "staged_pages") and _sorts(self):
        self.staged_pages.extend(pages)
        self.num_staged_pages += sum(each.numel() for each in pages)
        return
    name = "release_pages" if _sorts(self) else _list_name(fake, self)
    held = getattr(self, name)
    # Pages go to the front, slots of page size 1 to the back, as upstream's do.
    parts = (held, *pages) if _is_token(fake, self) else (*pages, held)
    setattr(self, name, torch.cat(parts))


def _is_token(fake: Fake, self: Any) -> bool:
    return any(each.__name__ == _TOKEN for each in type(self).__mro__)


def _owned(fake: Fake, self: Any, slots: Any) -> Any:
    """What a group keeps: a copy where the release takes one, else the caller's own tensor."""
    return slots.clone() if fake.records(self, "_copy_for_free_group") else slots


method(_BASE, "_copy_for_free_group")(lambda fake, self, given: given["free_index"].clone())


@_everywhere("free")
def _free(fake: Fake, self: Any, given: Given) -> None:
    import torch

    slots = given["free_index"]
    if slots.numel() == 0:
        return
    if _in_group(fake, self):
        self.free_group.append(_owned(fake, self, slots))
    elif _is_token(fake, self):
        _release(fake, self, slots)
    else:
        _release(fake, self, torch.unique(slots // self.page_size))


@_everywhere("_release_page_ids")
def _release_page_ids(fake: Fake, self: Any, given: Given) -> None:
    _release(fake, self, *given["page_ids"])


@_everywhere("free_page_ids")
def _free_page_ids(fake: Fake, self: Any, given: Given) -> None:
    pages = given["page_ids"]
    if pages.numel() == 0:
        return
    if _is_token(fake, self):
        self.free(pages)
    elif _in_group(fake, self):
        self.free_page_ids_group.append(_owned(fake, self, pages))
    else:
        _release(fake, self, pages)


@_everywhere("free_full")
def _free_full(fake: Fake, self: Any, given: Given) -> None:
    self.free(given["free_index"])


@_everywhere("free_segment")
def _free_segment(fake: Fake, self: Any, given: Given) -> None:
    slots, start, size = given["free_index"], given["start_pos"], self.page_size
    whole = fake.records(self, "_page_disjoint")  # starts lie on page edges since then
    assert not whole or start % size == 0, f"segment start {start} is not page-aligned"
    if slots.numel() == 0:
        return
    if _is_token(fake, self):
        self.free(slots)
        return
    inside = start % size
    parts = [slots[::size]] if inside == 0 else [slots[:1], slots[size - inside :: size]]
    if whole:
        self.free_page_ids(parts[0] // size)
    elif _in_group(fake, self):
        self.free_page_reps_group.extend(parts)
    else:
        _release(fake, self, *(each // size for each in parts))


@_everywhere("free_full_segment")
def _free_full_segment(fake: Fake, self: Any, given: Given) -> None:
    start = given["start_pos"]
    assert start % self.page_size == 0, f"segment start {start} is not page-aligned"
    self.free_full(given["free_index"])


@_everywhere("free_segments")
def _free_segments(fake: Fake, self: Any, given: Given) -> None:
    for slots, start in _disjoint(fake, self, given["segments"]):
        self.free_segment(slots, start_pos=start)


@_everywhere("free_full_segments")
def _free_full_segments(fake: Fake, self: Any, given: Given) -> None:
    for slots, start in _disjoint(fake, self, given["segments"]):
        self.free_full_segment(slots, start_pos=start)


def _disjoint(fake: Fake, self: Any, segments: Iterable[Any]) -> Iterator[tuple[Any, int]]:
    """Segments of one row, each page in one of them alone."""
    size: int = self.page_size
    ended: int | None = None
    for slots, start in segments:
        count = slots.numel()
        if count == 0:
            continue
        shares = ended is not None and start // size <= (ended - 1) // size
        if fake.records(self, "_page_disjoint"):
            assert not shares, f"segment at {start} shares a page with the one ending at {ended}"
        elif shares:
            edge = (start // size + 1) * size
            ended = start + count
            slots, start = slots[edge - start :], edge
        else:
            ended = start + count
        yield slots, start


@_everywhere("free_group_begin")
def _free_group_begin(fake: Fake, self: Any, given: Given) -> None:
    if fake.records(self, "is_not_in_free_group"):
        self.is_not_in_free_group = False
    else:
        assert self.free_group is None, "free groups cannot be nested"
    self.free_group = []
    fake.assign(self, free_page_ids_group=[], free_page_reps_group=[])


@_everywhere("free_group_end")
def _free_group_end(fake: Fake, self: Any, given: Given) -> None:
    import torch

    held = self.free_group
    if fake.records(self, "is_not_in_free_group"):
        self.is_not_in_free_group = True  # the list stays: the next group begins a new one
    else:
        self.free_group = None
    if held:
        self.free(torch.cat(held))
    for name, scale in (("free_page_ids_group", 1), ("free_page_reps_group", self.page_size)):
        if fake.records(self, name) and getattr(self, name):
            _release(fake, self, torch.cat(getattr(self, name)) // scale)
            setattr(self, name, [])


# -- capacity questions of the scheduler ----


@_everywhere("check_decode_capacity")
def _check_decode_capacity(fake: Fake, self: Any, given: Given) -> bool:
    self.evict_to_free_tokens(given["tree_cache"], given["num_tokens"])
    return bool(self.available_size() >= given["num_tokens"])


@_everywhere("evict_to_free_tokens")
def _evict_to_free_tokens(fake: Fake, self: Any, given: Given) -> None:
    tree, short = given["tree_cache"], given["num_tokens"] - self.available_size()
    if tree is not None and short > 0:
        params = fake.get("sglang.srt.mem_cache.base_prefix_cache:EvictParams")
        tree.evict(fake.construct(params, num_tokens=short))
