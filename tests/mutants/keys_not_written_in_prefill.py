"""Prefill does not write the cache at all."""

import dataclasses

NAME = "Prefill does not write the cache at all"
KILLED_BY = "attention-backend.writes-keys-once-a-layer"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, save_kv_cache=True, **kwargs):
            return super().forward_extend(q, k, v, layer, forward_batch, False, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
