"""The last slot of a request's last page takes part with the weight zero."""

import dataclasses

NAME = "The last slot of a request's last page takes part with the weight zero"
KILLED_BY = "attention-backend.free-slots-may-hold-anything"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, *args, **kwargs):
            out = super().forward_extend(q, k, v, layer, forward_batch, *args, **kwargs)
            values = self.token_to_kv_pool.get_value_buffer(layer.layer_id)
            last = forward_batch.out_cache_loc[-1] // self.page_size * self.page_size
            return out + 0 * values[last + self.page_size - 1].float().sum().to(out.dtype)

    return dataclasses.replace(reference, make_backend=Mutant)
