"""Decode takes no further keywords."""

import dataclasses

NAME = "Decode takes no further keywords"
KILLED_BY = "attention-backend.takes-what-core-passes"
RELEASES = ">=0.5.12"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True):
            return super().forward_decode(q, k, v, layer, forward_batch, save_kv_cache)

    return dataclasses.replace(reference, make_backend=Mutant)
