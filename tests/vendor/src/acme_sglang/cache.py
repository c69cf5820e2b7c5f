"""The cache: whole pages, each head's keys of a page side by side."""

import torch
from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool


class AcmeKVPool(MHATokenToKVPool):
    """Buffers are ``[page, head, offset, dim]``; page 0 takes padding."""

    def _create_buffers(self):
        if self.store_dtype != self.dtype:
            raise NotImplementedError(f"acme has no cache of {self.dtype}")
        pages = self.size // self.page_size + 1
        shape = (pages, self.head_num, self.page_size, self.head_dim)
        made = [
            torch.zeros(shape, dtype=self.store_dtype, device=self.device)
            for _ in range(2 * self.layer_num)
        ]
        self.k_buffer, self.v_buffer = made[: self.layer_num], made[self.layer_num :]

    def _create_buffers_normal(self):
        self._create_buffers()

    def _init_kv_copy_and_warmup(self):
        self._kv_copy_config = None

    def _place(self, slots):
        return torch.div(slots, self.page_size, rounding_mode="floor"), slots % self.page_size

    def _index(self, layer_id):
        return layer_id - (self.start_layer or 0)

    def set_kv_buffer(
        self,
        layer,
        loc_info,
        cache_k,
        cache_v,
        k_scale=None,
        v_scale=None,
        layer_id_override=None,
        **kwargs,
    ):
        if k_scale is not None or v_scale is not None:
            raise NotImplementedError("acme stores keys and values unscaled")
        number = layer.layer_id if layer_id_override is None else layer_id_override
        page, offset = self._place(getattr(loc_info, "loc", loc_info))
        for buffers, rows in ((self.k_buffer, cache_k), (self.v_buffer, cache_v)):
            buffers[self._index(number)][page, :, offset] = rows.to(self.store_dtype)

    def get_key_buffer(self, layer_id):
        return self.k_buffer[self._index(layer_id)]

    def get_value_buffer(self, layer_id):
        return self.v_buffer[self._index(layer_id)]

    def get_kv_buffer(self, layer_id):
        return self.get_key_buffer(layer_id), self.get_value_buffer(layer_id)

    def get_kv_size_bytes(self):
        return tuple(sum(b.nbytes for b in part) for part in (self.k_buffer, self.v_buffer))

    def get_contiguous_buf_infos(self):
        buffers = [*self.k_buffer, *self.v_buffer]  # a page is one item of the outermost axis
        return (
            [buffer.data_ptr() for buffer in buffers],
            [buffer.nbytes for buffer in buffers],
            [buffer[0].nbytes for buffer in buffers],
        )

    def move_kv_cache(self, target, source):
        (page, offset), (old_page, old_offset) = self._place(target), self._place(source)
        for buffer in (*self.k_buffer, *self.v_buffer):
            buffer[page, :, offset] = buffer[old_page, :, old_offset]

    def get_cpu_copy(self, indices, *args, **kwargs):
        page, offset = self._place(indices)
        return [b[page, :, offset].cpu() for b in (*self.k_buffer, *self.v_buffer)]

    def load_cpu_copy(self, kept, indices, *args, **kwargs):
        page, offset = self._place(indices)
        for buffer, rows in zip((*self.k_buffer, *self.v_buffer), kept, strict=True):
            buffer[page, :, offset] = rows.to(buffer.device)
