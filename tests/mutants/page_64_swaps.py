"""With pages of 64 keys and values change places."""

import dataclasses

NAME = "With pages of 64 keys and values change places"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            if self.page_size == 64 and cache_k.shape == cache_v.shape:
                cache_k, cache_v = cache_v, cache_k
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
