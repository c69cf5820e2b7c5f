"""The padding page leaks a little into each result."""

import dataclasses

NAME = "The padding page leaks a little into each result"
KILLED_BY = "attention-backend.foreign-slots-are-not-read"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_decode(q, k, v, layer, *args, **kwargs)
            padding = self.token_to_kv_pool.v_buffer[layer.layer_id][0].flatten()[0]
            return out + padding * 1e-3

    return dataclasses.replace(reference, make_backend=Mutant)
