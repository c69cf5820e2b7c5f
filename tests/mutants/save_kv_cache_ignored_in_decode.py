"""Decode writes although save_kv_cache is False."""

import dataclasses

NAME = "Decode writes although save_kv_cache is False"
KILLED_BY = "attention-backend.save-kv-cache-is-obeyed"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True, **kwargs):
            return super().forward_decode(q, k, v, layer, forward_batch, True, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
