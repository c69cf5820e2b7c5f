"""A write of more than 32 tokens loses the rest."""

import dataclasses

NAME = "A write of more than 32 tokens loses the rest"
KILLED_BY = "kv-pool.state-machine-keeps-every-token"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            loc = getattr(loc_info, "loc", loc_info)[:32]
            super().set_kv_buffer(layer, loc, cache_k[:32], cache_v[:32], *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
