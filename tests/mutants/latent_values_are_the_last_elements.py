"""Over latent keys the values are taken from the end of the vector, where the rotary part is."""

import dataclasses

NAME = "Over latent keys the values are taken from the end of the vector, where the rotary part is"
KILLED_BY = "attention-backend.decode-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def _cache(self, layer):
            keys, values = super()._cache(layer)
            rank = getattr(self.token_to_kv_pool, "kv_lora_rank", 0)
            return keys, keys[..., -rank:] if rank else values

    return dataclasses.replace(reference, make_backend=Mutant)
