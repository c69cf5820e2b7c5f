"""Key/value pools: where tokens are written, what all pools share, and the multi-head one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import BY_RESULT, Given, function, method
from sglang_contracts.fakes.one_process import saver

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_POOLS = "sglang.srt.mem_cache.memory_pool"
_KV, _MHA = "KVCache", "MHATokenToKVPool"

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
def kv_init(fake: Fake, self: Any, given: Given) -> None:
    """What the constructor of every pool sets."""
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
        memory_saver_adapter=saver(fake),
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


def wait_for(self: Any, layer_id: int) -> None:
    """A layer whose keys are still on their way from the host is waited for."""
    if self.layer_transfer_counter is not None:
        self.layer_transfer_counter.wait_until(layer_id - self.start_layer)


def offload(self: Any, indices: Any, of_layer: Any) -> list[Any]:
    """Host copies of the slots of each layer, in chunks."""
    size = self.cpu_offloading_chunk_size
    pieces = [indices[at : at + size] for at in range(0, len(indices), size)]
    return [[of_layer(layer, piece) for piece in pieces] for layer in range(self.layer_num)]


# -- multi-head pool ----


@method(_MHA, "__init__")
def _mha_init(fake: Fake, self: Any, given: Given) -> None:
    kv_init(fake, self, given)
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
    fake.assign(self, mem_usage=sum(bytes_of(self.k_buffer) + bytes_of(self.v_buffer)) / 2**30)


def bytes_of(buffers: Sequence[Any]) -> list[int]:
    """Bytes of each buffer."""
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


def as_dtype(self: Any, held: Any) -> Any:
    """Stored rows as the pool's dtype."""
    return held if self.store_dtype == self.dtype else held.view(self.dtype)


def to_store(self: Any, rows: Any, scale: Any) -> Any:
    """Rows as they are stored; a scale counts where the dtype changes."""
    if rows.dtype != self.dtype:
        rows = (rows if scale is None else rows / scale).to(self.dtype)
    return rows if self.store_dtype == self.dtype else rows.view(self.store_dtype)


@method(_MHA, "set_kv_buffer")
def _mha_set(fake: Fake, self: Any, given: Given) -> None:
    where = bare_location(given["loc_info"] if "loc_info" in given else given["loc"])
    override = given.get("layer_id_override")
    index = (given["layer"].layer_id if override is None else override) - self.start_layer
    self.k_buffer[index][where] = to_store(self, given["cache_k"], given.get("k_scale"))
    self.v_buffer[index][where] = to_store(self, given["cache_v"], given.get("v_scale"))


@method(_MHA, "_get_key_buffer", "get_key_buffer")
def _mha_keys(fake: Fake, self: Any, given: Given) -> Any:
    wait_for(self, given["layer_id"])
    return as_dtype(self, self.k_buffer[given["layer_id"] - self.start_layer])


@method(_MHA, "_get_value_buffer", "get_value_buffer")
def _mha_values(fake: Fake, self: Any, given: Given) -> Any:
    wait_for(self, given["layer_id"])
    return as_dtype(self, self.v_buffer[given["layer_id"] - self.start_layer])


@method(_MHA, "get_kv_buffer")
def _both(fake: Fake, self: Any, given: Given) -> Any:
    return self.get_key_buffer(given["layer_id"]), self.get_value_buffer(given["layer_id"])


@method(_MHA, "get_kv_size_bytes")
def _mha_size(fake: Fake, self: Any, given: Given) -> Any:
    return sum(bytes_of(self.k_buffer)), sum(bytes_of(self.v_buffer))


@method(_MHA, "get_v_head_dim")
def _mha_value_width(fake: Fake, self: Any, given: Given) -> int:
    return int(self.v_buffer[0].shape[-1])


@method(_MHA, "is_quantized_kv_cache")
def _not_quantized(fake: Fake, self: Any, given: Given) -> bool:
    return False


def buffer_infos(buffers: Sequence[Any], page_size: int) -> Any:
    """Address, bytes, and bytes of a page of each buffer."""
    return (
        [each.data_ptr() for each in buffers],
        [each.nbytes for each in buffers],
        [each[0].nbytes * page_size for each in buffers],
    )


@method(_MHA, "get_contiguous_buf_infos")
def _mha_infos(fake: Fake, self: Any, given: Given) -> Any:
    return buffer_infos([*self.k_buffer, *self.v_buffer], self.page_size)


@method(_MHA, "move_kv_cache", "_move_kv_cache_impl")
def _mha_move(fake: Fake, self: Any, given: Given) -> None:
    for each in (*self.k_buffer, *self.v_buffer):
        each[given["tgt_loc"]] = each[given["src_loc"]]


@method(_MHA, "get_cpu_copy")
def _mha_offload(fake: Fake, self: Any, given: Given) -> Any:
    def of_layer(layer: int, piece: Any) -> Any:
        return [self.k_buffer[layer][piece].cpu(), self.v_buffer[layer][piece].cpu()]

    return offload(self, given["indices"], of_layer)


@method(_MHA, "load_cpu_copy")
def _mha_reload(fake: Fake, self: Any, given: Given) -> None:
    size, slots = self.cpu_offloading_chunk_size, given["indices"]
    for layer, pieces in enumerate(given["kv_cache_cpu"]):
        for number, (keys, values) in enumerate(pieces):
            at = slots[number * size : (number + 1) * size]
            self.k_buffer[layer][at] = keys.to(self.device)
            self.v_buffer[layer][at] = values.to(self.device)
