"""Request pool and key/value pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from packaging.version import Version
from sglang_contracts.fakes.behaviour import BY_RESULT, Given, function, method

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_POOLS = "sglang.srt.mem_cache.memory_pool"
_REQUESTS, _KV, _MHA, _MLA = "ReqToTokenPool", "KVCache", "MHATokenToKVPool", "MLATokenToKVPool"

# -- request pool ----


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


# -- write locations ----


@method("KVWriteLoc", "__post_init__")
def _align(fake: Fake, self: Any, given: Given) -> None:
    for name in ("swa_loc", "full_loc"):
        held = getattr(self, name) if fake.records(self, name) else None
        if held is not None and held.shape[0] != self.loc.shape[0]:
            setattr(self, name, held[: self.loc.shape[0]])


@method("KVWriteLoc", "for_batch", "for_layer")
def _for_batch(fake: Fake, cls: Any, given: Given) -> Any:
    batch, layer = given["forward_batch"], given.get("layer")
    more = {name: given[name] for name in ("swa_loc", "full_loc") if name in given}
    if layer is not None and layer.is_cross_attention:
        return cls(batch.encoder_out_cache_loc, **more)
    return cls(batch.out_cache_loc, **more, physical=batch.out_cache_loc_is_physical)


@function(_POOLS, "unwrap_write_loc")
def _unwrap_write_loc(fake: Fake, given: Given) -> Any:
    cls, held = fake.get(f"{_POOLS}:KVWriteLoc"), given["loc_info"]
    names = [name for name in ("loc", "swa_loc", "full_loc") if fake.records(cls, name)]
    if isinstance(held, cls):
        return tuple(getattr(held, name) for name in names)
    return (held, *(None for _ in names[1:]))


def bare_location(held: Any) -> Any:
    """The slots themselves, whether or not the release wraps them."""
    return getattr(held, "loc", held)


# -- what all key/value pools share ----

BY_RESULT.add(_KV)


@method(_KV, "__init__")
def _kv_init(fake: Fake, self: Any, given: Given) -> None:
    import torch

    dtype, layers = given["dtype"], given["layer_num"]
    eight_bit = dtype in (torch.float8_e5m2, torch.float8_e4m3fn)
    fake.assign(
        self,
        size=given["size"],
        page_size=given["page_size"],
        dtype=dtype,
        # 8-bit floats cannot be written by index everywhere: they are kept as bytes.
        store_dtype=torch.uint8 if eight_bit else dtype,
        layer_num=layers,
        device=given["device"],
        start_layer=given.get("start_layer") or 0,
        end_layer=given.get("end_layer") or layers - 1,
        layer_transfer_counter=None,
        mem_usage=0,
        cpu_offloading_chunk_size=8192,
        enable_custom_mem_pool=False,
        custom_mem_pool=None,
        allocation_label=given.get("allocation_label"),
        kernel_page_blocks=None,
        post_capture_active=False,
    )


@method(_KV, "register_layer_transfer_counter")
def _register_counter(fake: Fake, self: Any, given: Given) -> None:
    self.layer_transfer_counter = given["layer_transfer_counter"]


@method(_KV, "get_kv_buffer_shape")
def _buffer_shape(fake: Fake, self: Any, given: Given) -> Any:
    keys, values = self.get_kv_buffer(self.start_layer)
    return keys.shape, values.shape


@method(_KV, "_finalize_allocation_log")
def _no_log(fake: Fake, self: Any, given: Given) -> None:
    """Upstream logs how much memory the pool takes."""


def _wait_for(self: Any, layer_id: int) -> None:
    if self.layer_transfer_counter is not None:
        self.layer_transfer_counter.wait_until(layer_id - self.start_layer)


def _offload(self: Any, indices: Any, of_layer: Any) -> list[Any]:
    """Host copies of the slots of each layer, in chunks."""
    size = self.cpu_offloading_chunk_size
    pieces = [indices[at : at + size] for at in range(0, len(indices), size)]
    return [[of_layer(layer, piece) for piece in pieces] for layer in range(self.layer_num)]


# -- multi-head pool ----


@method(_MHA, "__init__")
def _mha_init(fake: Fake, self: Any, given: Given) -> None:
    _kv_init(fake, self, given)
    heads = given["swa_head_num"] if given.get("swa_head_num") is not None else given["head_num"]
    width = given["swa_head_dim"] if given.get("swa_head_dim") is not None else given["head_dim"]
    values = next(
        (given[n] for n in ("swa_v_head_dim", "v_head_dim") if given.get(n) is not None), width
    )
    fake.assign(
        self,
        head_num=heads,
        head_dim=width,
        v_head_dim=values,
        row_dim=heads * width,
        same_kv_dim=width == values,
        kv_cache_layout=given.get("kv_cache_layout"),
        use_hnd=False,
        use_native_move_kv_cache=True,
        alt_stream=None,
        k_scale_buffer=None,
        v_scale_buffer=None,
        dq_k_buffer=None,
        dq_v_buffer=None,
        _post_capture_owner=None,
        _kv_copy_config=None,
    )
    if given.get("quant_method") is not None:
        self.quant_method = given["quant_method"]
    self._create_buffers()
    if given.get("enable_kv_cache_copy"):
        self._init_kv_copy_and_warmup()
    fake.assign(self, mem_usage=sum(_bytes_of(self.k_buffer) + _bytes_of(self.v_buffer)) / 2**30)


def _bytes_of(buffers: Sequence[Any]) -> list[int]:
    return [each.numel() * each.element_size() for each in buffers]


def _value_width(fake: Fake, self: Any) -> int:
    return int(self.v_head_dim if fake.records(self, "v_head_dim") else self.head_dim)


@method(_MHA, "_create_buffers")
def _mha_create(fake: Fake, self: Any, given: Given) -> None:
    if fake.records(self, "_create_buffers_normal"):
        self._create_buffers_normal()
    else:
        _mha_allocate(fake, self, given)
    _publish_pointers(fake, self)


@method(_MHA, "_create_buffers_normal")
def _mha_allocate(fake: Fake, self: Any, given: Given) -> None:
    import torch

    rows = self.size + self.page_size  # a page more than is handed out, for padding tokens
    for name, width in (("k_buffer", self.head_dim), ("v_buffer", _value_width(fake, self))):
        shape = (rows, self.head_num, width)
        made = [
            torch.zeros(shape, dtype=self.store_dtype, device=self.device)
            for _ in range(self.layer_num)
        ]
        setattr(self, name, made)


def _publish_pointers(fake: Fake, self: Any) -> None:
    import torch

    def pointers(buffers: Sequence[Any]) -> Any:
        addresses = [each.data_ptr() for each in buffers]
        return torch.tensor(addresses, dtype=torch.uint64, device=self.device)

    both = [*self.k_buffer, *self.v_buffer]
    strides = [each.stride(0) * each.element_size() for each in both]
    fake.assign(
        self,
        k_data_ptrs=pointers(self.k_buffer),
        v_data_ptrs=pointers(self.v_buffer),
        data_ptrs=pointers(both),
        data_strides=torch.tensor(strides, device=self.device),
        num_pages=(self.size + self.page_size) // self.page_size,
    )


@method(_MHA, "_init_data_ptrs_and_strides")
def _mha_pointers(fake: Fake, self: Any, given: Given) -> None:
    _publish_pointers(fake, self)


@method(_MHA, "_init_kv_copy_and_warmup")
def _no_warmup(fake: Fake, self: Any, given: Given) -> None:
    """Upstream tunes a kernel here."""


@method(_MHA, "_clear_buffers")
def _mha_clear(fake: Fake, self: Any, given: Given) -> None:
    del self.k_buffer, self.v_buffer


def _as_dtype(self: Any, held: Any) -> Any:
    return held if self.store_dtype == self.dtype else held.view(self.dtype)


def _to_store(self: Any, rows: Any, scale: Any) -> Any:
    if rows.dtype != self.dtype:
        rows = (rows if scale is None else rows / scale).to(self.dtype)
    return rows if self.store_dtype == self.dtype else rows.view(self.store_dtype)


@method(_MHA, "set_kv_buffer")
def _mha_set(fake: Fake, self: Any, given: Given) -> None:
    where = bare_location(given["loc_info"] if "loc_info" in given else given["loc"])
    override = given.get("layer_id_override")
    index = (given["layer"].layer_id if override is None else override) - self.start_layer
    self.k_buffer[index][where] = _to_store(self, given["cache_k"], given.get("k_scale"))
    self.v_buffer[index][where] = _to_store(self, given["cache_v"], given.get("v_scale"))


@method(_MHA, "_get_key_buffer", "get_key_buffer")
def _mha_keys(fake: Fake, self: Any, given: Given) -> Any:
    _wait_for(self, given["layer_id"])
    return _as_dtype(self, self.k_buffer[given["layer_id"] - self.start_layer])


@method(_MHA, "_get_value_buffer", "get_value_buffer")
def _mha_values(fake: Fake, self: Any, given: Given) -> Any:
    _wait_for(self, given["layer_id"])
    return _as_dtype(self, self.v_buffer[given["layer_id"] - self.start_layer])


@method(_MHA, "get_kv_buffer")
@method(_MLA, "get_kv_buffer")
def _both(fake: Fake, self: Any, given: Given) -> Any:
    return self.get_key_buffer(given["layer_id"]), self.get_value_buffer(given["layer_id"])


@method(_MHA, "get_kv_size_bytes")
def _mha_size(fake: Fake, self: Any, given: Given) -> Any:
    return sum(_bytes_of(self.k_buffer)), sum(_bytes_of(self.v_buffer))


@method(_MHA, "get_v_head_dim")
def _mha_value_width(fake: Fake, self: Any, given: Given) -> int:
    return int(self.v_buffer[0].shape[-1])


@method(_MHA, "is_quantized_kv_cache")
def _not_quantized(fake: Fake, self: Any, given: Given) -> bool:
    return False


def _infos(buffers: Sequence[Any], page_size: int) -> Any:
    return (
        [each.data_ptr() for each in buffers],
        [each.nbytes for each in buffers],
        [each[0].nbytes * page_size for each in buffers],
    )


@method(_MHA, "get_contiguous_buf_infos")
def _mha_infos(fake: Fake, self: Any, given: Given) -> Any:
    return _infos([*self.k_buffer, *self.v_buffer], self.page_size)


@method(_MHA, "move_kv_cache", "_move_kv_cache_impl")
def _mha_move(fake: Fake, self: Any, given: Given) -> None:
    for each in (*self.k_buffer, *self.v_buffer):
        each[given["tgt_loc"]] = each[given["src_loc"]]


@method(_MHA, "get_cpu_copy")
def _mha_offload(fake: Fake, self: Any, given: Given) -> Any:
    def of_layer(layer: int, piece: Any) -> Any:
        return [self.k_buffer[layer][piece].cpu(), self.v_buffer[layer][piece].cpu()]

    return _offload(self, given["indices"], of_layer)


@method(_MHA, "load_cpu_copy")
def _mha_reload(fake: Fake, self: Any, given: Given) -> None:
    size, slots = self.cpu_offloading_chunk_size, given["indices"]
    for layer, pieces in enumerate(given["kv_cache_cpu"]):
        for number, (keys, values) in enumerate(pieces):
            at = slots[number * size : (number + 1) * size]
            self.k_buffer[layer][at] = keys.to(self.device)
            self.v_buffer[layer][at] = values.to(self.device)


# -- latent pool ----


@method(_MLA, "__init__")
def _mla_init(fake: Fake, self: Any, given: Given) -> None:
    _kv_init(fake, self, given)
    fake.assign(
        self,
        kv_lora_rank=given["kv_lora_rank"],
        qk_rope_head_dim=given["qk_rope_head_dim"],
        kv_cache_dim=given["kv_lora_rank"] + given["qk_rope_head_dim"],
        use_nsa=given.get("use_nsa", False),
        use_dsa=given.get("use_dsa", False),
        nsa_kv_cache_store_fp8=False,
        dsa_kv_cache_store_fp8=False,
        dcp_replicated=given.get("dcp_replicated", False),
    )
    if fake.records(self, "_create_buffers"):
        self._create_buffers()
    else:
        _mla_create(fake, self, given)


@method(_MLA, "_create_buffers")
def _mla_create(fake: Fake, self: Any, given: Given) -> None:
    import torch

    width = self.kv_lora_rank + self.qk_rope_head_dim
    shape = (self.size + self.page_size, 1, width)
    self.kv_buffer = [
        torch.zeros(shape, dtype=self.store_dtype, device=self.device)
        for _ in range(self.layer_num)
    ]
    addresses = [each.data_ptr() for each in self.kv_buffer]
    fake.assign(self, data_ptrs=torch.tensor(addresses, dtype=torch.uint64, device=self.device))


@method(_MLA, "_clear_buffers")
def _mla_clear(fake: Fake, self: Any, given: Given) -> None:
    del self.kv_buffer


def _mla_layer(self: Any, given: Given) -> Any:
    override = given.get("layer_id_override")
    layer_id = given["layer"].layer_id if override is None else override
    return self.kv_buffer[layer_id - self.start_layer]


def _mla_where(given: Given) -> Any:
    return bare_location(given["loc_info"] if "loc_info" in given else given["loc"])


@method(_MLA, "set_kv_buffer")
def _mla_set(fake: Fake, self: Any, given: Given) -> None:
    _mla_layer(self, given)[_mla_where(given)] = _to_store(self, given["cache_k"], None)


@method(_MLA, "set_mla_kv_buffer")
def _mla_set_parts(fake: Fake, self: Any, given: Given) -> None:
    buffer, where, rank = _mla_layer(self, given), _mla_where(given), self.kv_lora_rank
    width = buffer.shape[-1] - rank
    nope = _to_store(self, given["cache_k_nope"], None).reshape(-1, 1, rank)
    rope = _to_store(self, given["cache_k_rope"], None).reshape(-1, 1, width)
    buffer[where, :, :rank] = nope
    buffer[where, :, rank:] = rope


@method(_MLA, "get_mla_kv_buffer")
def _mla_get_parts(fake: Fake, self: Any, given: Given) -> Any:
    _wait_for(self, given["layer"].layer_id)
    rows = _as_dtype(self, _mla_layer(self, given))[_mla_where(given)]
    rows = rows.to(given.get("dst_dtype") or self.dtype)
    return rows[..., : self.kv_lora_rank], rows[..., self.kv_lora_rank :]


@method(_MLA, "get_key_buffer")
def _mla_keys(fake: Fake, self: Any, given: Given) -> Any:
    _wait_for(self, given["layer_id"])
    return _as_dtype(self, self.kv_buffer[given["layer_id"] - self.start_layer])


@method(_MLA, "get_value_buffer")
def _mla_values(fake: Fake, self: Any, given: Given) -> Any:
    return _mla_keys(fake, self, given)[..., : self.kv_lora_rank]


@method(_MLA, "get_kv_size_bytes")
def _mla_size(fake: Fake, self: Any, given: Given) -> int:
    return sum(_bytes_of(self.kv_buffer))


@method(_MLA, "get_contiguous_buf_infos")
def _mla_infos(fake: Fake, self: Any, given: Given) -> Any:
    return _infos(self.kv_buffer, self.page_size)


@method(_MLA, "move_kv_cache")
def _mla_move(fake: Fake, self: Any, given: Given) -> None:
    for each in self.kv_buffer:
        each[given["tgt_loc"]] = each[given["src_loc"]]


@method(_MLA, "get_cpu_copy")
def _mla_offload(fake: Fake, self: Any, given: Given) -> Any:
    return _offload(self, given["indices"], lambda layer, piece: self.kv_buffer[layer][piece].cpu())


@method(_MLA, "load_cpu_copy")
def _mla_reload(fake: Fake, self: Any, given: Given) -> None:
    size, slots = self.cpu_offloading_chunk_size, given["indices"]
    for layer, pieces in enumerate(given["kv_cache_cpu"]):
        for number, rows in enumerate(pieces):
            at = slots[number * size : (number + 1) * size]
            self.kv_buffer[layer][at] = rows.to(self.device)
