"""Keys and values are staged in host memory."""

import dataclasses

NAME = "Keys and values are staged in host memory"
KILLED_BY = "kv-path.never-goes-through-the-host"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            keys = cache_k.cpu().to(cache_k.device)
            super().set_kv_buffer(layer, loc_info, keys, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
