"""A field that this release no longer has is read in decode."""

import dataclasses

NAME = "A field that this release no longer has is read in decode"
KILLED_BY = "attention-backend.serves-every-declared-mode"
RELEASES = ">=0.5.13"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True, **kwargs):
            forward_batch.token_to_kv_pool.get_key_buffer(layer.layer_id)
            return super().forward_decode(q, k, v, layer, forward_batch, save_kv_cache, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
