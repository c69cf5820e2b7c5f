"""Latent keys are not declared, not refused, and attended to as if they were keys of one head."""

import dataclasses

NAME = "Latent keys are not declared, not refused, and served with the wrong values"
KILLED_BY = "attention-backend.undeclared-pools-are-refused"


def make(reference):
    class Mutant(reference.make_backend):
        def _cache(self, layer):
            keys, values = super()._cache(layer)
            rank = getattr(self.token_to_kv_pool, "kv_lora_rank", 0)
            return keys, keys[..., -rank:] if rank else values

    capabilities = dataclasses.replace(reference.capabilities, pool_kinds=("mha",))
    return dataclasses.replace(reference, make_backend=Mutant, capabilities=capabilities)
