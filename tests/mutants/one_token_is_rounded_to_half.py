"""A write of a single token passes through half precision."""

import dataclasses

NAME = "A write of a single token passes through half precision"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            if cache_k.shape[0] == 1 and cache_k.element_size() == 4:
                cache_k, cache_v = (
                    cache_k.bfloat16().float(),
                    cache_v.bfloat16().float(),
                )
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
