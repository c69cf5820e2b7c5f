"""Latent keys are not declared, and a backend over them ends in an AttributeError mid-run."""

import dataclasses

NAME = "Latent keys are not declared, and end in an AttributeError in the first pass"
KILLED_BY = "attention-backend.undeclared-pools-are-refused"


def make(reference):
    class Mutant(reference.make_backend):
        def _cache(self, layer):
            pool = self.token_to_kv_pool
            assert len(pool.k_buffer) == len(pool.v_buffer)
            return super()._cache(layer)

    capabilities = dataclasses.replace(reference.capabilities, pool_kinds=("mha",))
    return dataclasses.replace(reference, make_backend=Mutant, capabilities=capabilities)
