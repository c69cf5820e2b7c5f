"""The last page of the pool is not written."""

import dataclasses

NAME = "The last page of the pool is not written"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            loc = getattr(loc_info, "loc", loc_info)
            kept = [buffer[self.size :].clone() for buffer in (*self.k_buffer, *self.v_buffer)]
            super().set_kv_buffer(layer, loc, cache_k, cache_v, *args, **kwargs)
            for buffer, rows in zip((*self.k_buffer, *self.v_buffer), kept, strict=True):
                buffer[self.size :] = rows

    return dataclasses.replace(reference, kv_pool=Mutant)
