"""Another dtype is stored as its bits."""

import dataclasses

NAME = "Another dtype is stored as its bits"
KILLED_BY = "kv-pool.casts-to-its-dtype"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            if cache_k.dtype != self.dtype:
                width = cache_k.shape[-1]
                bits = cache_k.contiguous().view(self.dtype)
                cache_k = bits.repeat_interleave(2, -1)[..., :width]
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
