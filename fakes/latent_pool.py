"""The pool of latent keys (MLA): one vector for keys and values of all heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import Given, method
from sglang_contracts.fakes.pools import (
    as_dtype,
    bare_location,
    buffer_infos,
    bytes_of,
    kv_init,
    offload,
    to_store,
    wait_for,
)

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_MLA = "MLATokenToKVPool"


@method(_MLA, "get_kv_buffer")
def _mla_both(fake: Fake, self: Any, given: Given) -> Any:
    return self.get_key_buffer(given["layer_id"]), self.get_value_buffer(given["layer_id"])


@method(_MLA, "__init__")
def _mla_init(fake: Fake, self: Any, given: Given) -> None:
    kv_init(fake, self, given)
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
    _mla_layer(self, given)[_mla_where(given)] = to_store(self, given["cache_k"], None)


@method(_MLA, "set_mla_kv_buffer")
def _mla_set_parts(fake: Fake, self: Any, given: Given) -> None:
    buffer, where, rank = _mla_layer(self, given), _mla_where(given), self.kv_lora_rank
    width = buffer.shape[-1] - rank
    nope = to_store(self, given["cache_k_nope"], None).reshape(-1, 1, rank)
    rope = to_store(self, given["cache_k_rope"], None).reshape(-1, 1, width)
    buffer[where, :, :rank] = nope
    buffer[where, :, rank:] = rope


@method(_MLA, "get_mla_kv_buffer")
def _mla_get_parts(fake: Fake, self: Any, given: Given) -> Any:
    wait_for(self, given["layer"].layer_id)
    rows = as_dtype(self, _mla_layer(self, given))[_mla_where(given)]
    rows = rows.to(given.get("dst_dtype") or self.dtype)
    return rows[..., : self.kv_lora_rank], rows[..., self.kv_lora_rank :]


@method(_MLA, "get_key_buffer")
def _mla_keys(fake: Fake, self: Any, given: Given) -> Any:
    wait_for(self, given["layer_id"])
    return as_dtype(self, self.kv_buffer[given["layer_id"] - self.start_layer])


@method(_MLA, "get_value_buffer")
def _mla_values(fake: Fake, self: Any, given: Given) -> Any:
    return _mla_keys(fake, self, given)[..., : self.kv_lora_rank]


@method(_MLA, "get_kv_size_bytes")
def _mla_size(fake: Fake, self: Any, given: Given) -> int:
    return sum(bytes_of(self.kv_buffer))


@method(_MLA, "get_contiguous_buf_infos")
def _mla_infos(fake: Fake, self: Any, given: Given) -> Any:
    return buffer_infos(self.kv_buffer, self.page_size)


@method(_MLA, "move_kv_cache")
def _mla_move(fake: Fake, self: Any, given: Given) -> None:
    for each in self.kv_buffer:
        each[given["tgt_loc"]] = each[given["src_loc"]]


@method(_MLA, "get_cpu_copy")
def _mla_offload(fake: Fake, self: Any, given: Given) -> Any:
    return offload(self, given["indices"], lambda layer, piece: self.kv_buffer[layer][piece].cpu())


@method(_MLA, "load_cpu_copy")
def _mla_reload(fake: Fake, self: Any, given: Given) -> None:
    size, slots = self.cpu_offloading_chunk_size, given["indices"]
    for layer, pieces in enumerate(given["kv_cache_cpu"]):
        for number, rows in enumerate(pieces):
            at = slots[number * size : (number + 1) * size]
            self.kv_buffer[layer][at] = rows.to(self.device)
