"""The pool of latent keys stores the latent alone: the rotary part of each key is lost."""

import dataclasses

NAME = "The pool of latent keys stores the latent alone: the rotary part of each key is lost"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"


def make(reference):
    from sglang.srt.mem_cache.memory_pool import MLATokenToKVPool

    class Mutant(MLATokenToKVPool):
        def set_kv_buffer(self, layer, loc, cache_k, cache_v, *args, **kwargs):
            latent = cache_k.clone()
            latent[..., self.kv_lora_rank :] = 0
            super().set_kv_buffer(layer, loc, latent, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, latent_pool=Mutant)
