"""The first token of a page goes to the slot before it."""

import dataclasses

NAME = "The first token of a page goes to the slot before it"
KILLED_BY = "kv-pool.foreign-slots-untouched"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            loc = getattr(loc_info, "loc", loc_info)
            edge = (loc % self.page_size == 0) & (loc > self.page_size)
            super().set_kv_buffer(
                layer, loc - edge.to(loc.dtype), cache_k, cache_v, *args, **kwargs
            )

    return dataclasses.replace(reference, kv_pool=Mutant)
