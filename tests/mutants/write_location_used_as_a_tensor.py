"""The pool takes what core hands over for a tensor."""

import dataclasses

NAME = "The pool takes what core hands over for a tensor"
KILLED_BY = "kv-pool.takes-the-write-location-of-core"
RELEASES = ">=0.5.14"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc, cache_k, cache_v, *args, **kwargs):
            super().set_kv_buffer(layer, loc.to(cache_k.device), cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
