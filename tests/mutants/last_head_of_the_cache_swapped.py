"""Keys and values of the last head change places in the cache."""

import dataclasses

NAME = "Keys and values of the last head change places in the cache"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            if cache_k.shape == cache_v.shape:
                keys, values = cache_k.clone(), cache_v.clone()
                keys[:, -1], values[:, -1] = cache_v[:, -1], cache_k[:, -1]
                cache_k, cache_v = keys, values
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
