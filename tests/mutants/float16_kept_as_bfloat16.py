"""Keys of a float16 cache pass through bfloat16."""

import dataclasses

import torch

NAME = "Keys of a float16 cache pass through bfloat16"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            if cache_k.dtype == torch.float16:
                cache_k = cache_k.bfloat16().to(torch.float16)
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
