"""The last token of a batch goes to its neighbour's slot."""

import dataclasses

NAME = "The last token of a batch goes to its neighbour's slot"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            loc = getattr(loc_info, "loc", loc_info).clone()
            if len(loc) > 1:
                loc[-1] = loc[-2]
            super().set_kv_buffer(layer, loc, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
