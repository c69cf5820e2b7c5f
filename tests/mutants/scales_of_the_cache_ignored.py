"""Keys written in another dtype are not divided by their scale."""

import dataclasses

NAME = "Keys written in another dtype are not divided by their scale"
KILLED_BY = "kv-pool.casts-to-its-dtype"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            kwargs |= {"k_scale": None}
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
