"""Prefill with a prefix copies the layer's whole buffers."""

import dataclasses

NAME = "Prefill with a prefix copies the layer's whole buffers"
KILLED_BY = "kv-path.cost-does-not-follow-the-pool"


def make(reference):
    class Mutant(reference.make_backend):
        def _cache(self, layer):
            keys, values = super()._cache(layer)
            if self.forward_metadata is not None and hasattr(self.forward_metadata, "q_lod"):
                keys, values = keys.clone(), values.clone()
            return keys, values

    return dataclasses.replace(reference, make_backend=Mutant)
