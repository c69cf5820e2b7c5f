"""The first token of a page clears the page before the next."""

import dataclasses

NAME = "The first token of a page clears the page before the next"
KILLED_BY = "kv-pool.foreign-slots-untouched"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            loc = getattr(loc_info, "loc", loc_info)
            ends = loc[loc % self.page_size == self.page_size - 1] + 1
            self.v_buffer[layer.layer_id][ends.clamp(max=self.size)] = 0
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
