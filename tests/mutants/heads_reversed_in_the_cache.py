"""Key heads are stored in reverse."""

import dataclasses

NAME = "Key heads are stored in reverse"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            super().set_kv_buffer(layer, loc_info, cache_k.flip(1), cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
