"""Keys go to the value buffer where their head dims agree."""

import dataclasses

NAME = "Keys go to the value buffer where their head dims agree"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            if cache_k.shape == cache_v.shape:
                cache_k, cache_v = cache_v, cache_k
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
