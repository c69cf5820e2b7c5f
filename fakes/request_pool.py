"""The request pool: which slots are whose tokens'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from packaging.version import Version
from sglang_contracts.fakes.behaviour import Given, method

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_REQUESTS = "ReqToTokenPool"


@method(_REQUESTS, "__init__")
def _requests_init(fake: Fake, self: Any, given: Given) -> None:
    import torch

    rows = given["size"] + _padding(fake)
    shape = (rows, given["max_context_len"])
    fake.assign(
        self,
        size=given["size"],
        _alloc_size=rows,
        max_context_len=given["max_context_len"],
        device=given["device"],
        req_to_token=torch.zeros(shape, dtype=torch.int32, device=given["device"]),
        req_generation=torch.zeros(rows, dtype=torch.int64),
        _aux_cache=None,
    )
    self.free_slots = _all_rows(fake, self)


def _padding(fake: Fake) -> int:
    """Rows kept for padded requests: row 0 (clause req-to-token-pool/row-zero-is-padding).

    No recorded name tells it: the first release that does so, 0.5.11, adds none.
    """
    return int(Version(fake.release) >= Version("0.5.11"))


def _all_rows(fake: Fake, self: Any) -> list[int]:
    first = _padding(fake)
    return list(range(first, self.size + first))


@method(_REQUESTS, "write")
def _requests_write(fake: Fake, self: Any, given: Given) -> None:
    self.req_to_token[given["indices"]] = given["values"]


@method(_REQUESTS, "available_size")
def _requests_available(fake: Fake, self: Any, given: Given) -> int:
    return len(self.free_slots)


@method(_REQUESTS, "clear")
def _requests_clear(fake: Fake, self: Any, given: Given) -> None:
    self.free_slots = _all_rows(fake, self)
    if fake.records(self, "req_generation") and not fake.records(self, "pre_alloc_size"):
        self.req_generation.zero_()


@method(_REQUESTS, "alloc_rows")
def _alloc_rows(fake: Fake, self: Any, given: Given) -> list[int] | None:
    rows = _next_rows(fake, self, given["need_size"])
    if rows and fake.records(self, "_on_alloc_rows") and self._on_alloc_rows is not None:
        self._on_alloc_rows(rows)
    return rows


@method(_REQUESTS, "free_rows")
def _free_rows(fake: Fake, self: Any, given: Given) -> None:
    self.free_slots.extend(given["indices"])


@method(_REQUESTS, "register_on_alloc_rows")
def _on_alloc_rows(fake: Fake, self: Any, given: Given) -> None:
    assert self._on_alloc_rows is None
    self._on_alloc_rows = given["hook"]


@method(_REQUESTS, "schedulable_token_capacity")
def _capacity(fake: Fake, self: Any, given: Given) -> Any:
    return given["physical_capacity"]


@method(_REQUESTS, "alloc_aux_to_lengths", "reset_aux_cache_allocator")
def _no_aux(fake: Fake, self: Any, given: Given) -> None:
    """There is no auxiliary cache to look after."""


@method(_REQUESTS, "alloc")
def _requests_alloc(fake: Fake, self: Any, given: Given) -> list[int] | None:
    if "need_size" in given:
        return _next_rows(fake, self, given["need_size"])
    requests: Sequence[Any] = given["reqs"]
    holders = [_holder(each) for each in requests]
    kept = [each for each in holders if each.req_pool_idx is not None]
    _check_reuse(fake, requests, holders)
    count = len(holders) - len(kept)
    by_row = fake.records(self, "alloc_rows")
    rows = self.alloc_rows(count) if by_row else _next_rows(fake, self, count)
    if rows is None:
        return None
    left = iter(rows)
    for each in holders:
        if each.req_pool_idx is None:
            each.req_pool_idx = next(left)
    return [each.req_pool_idx for each in holders]


def _next_rows(fake: Fake, self: Any, count: int) -> list[int] | None:
    """The next free rows: those at the front, from 0.5.18 on those at the end."""
    left = len(self.free_slots) - count
    if left < 0:
        return None
    first = left if Version(fake.release) >= Version("0.5.18") else 0
    rows: list[int] = self.free_slots[first : first + count]
    del self.free_slots[first : first + count]
    if rows and fake.records(self, "req_generation"):
        self.req_generation[rows] += 1
    return rows


def _holder(request: Any) -> Any:
    """What keeps a request's row: the request, or its ``kv`` since that exists."""
    return getattr(request, "kv", request)


def _check_reuse(fake: Fake, requests: Sequence[Any], holders: Sequence[Any]) -> None:
    """A request that comes back with a row must have something in it."""
    for request, holder in zip(requests, holders, strict=True):
        if holder.req_pool_idx is None:
            continue
        if holder is not request:
            assert holder.kv_allocated_len > 0, "a reused row must carry allocated KV"
            continue
        chunks = getattr(request, "inflight_middle_chunks", getattr(request, "is_chunked", 0))
        assert chunks > 0 or request.kv_committed_len > 0, (
            "a request with a row must be chunked or have committed KV"
        )


@method(_REQUESTS, "free")
def _requests_free(fake: Fake, self: Any, given: Given) -> None:
    if "free_index" in given:
        rows = given["free_index"]
        self.free_slots.extend([rows] if isinstance(rows, int) else rows)
        return
    holder = _holder(given["req"])
    assert holder.req_pool_idx is not None, "request must have req_pool_idx"
    if fake.records(self, "free_rows"):
        self.free_rows([holder.req_pool_idx])
    else:
        self.free_slots.append(holder.req_pool_idx)
    holder.req_pool_idx = None
