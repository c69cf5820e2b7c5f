"""The slots are handed to the pool in ascending order."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The slots are handed to the pool in ascending order"
KILLED_BY = "attention-backend.writes-keys-once-a-layer"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, *args, **kwargs):
            sorted_batch = Changed(
                forward_batch, out_cache_loc=forward_batch.out_cache_loc.sort()[0]
            )
            return super().forward_extend(q, k, v, layer, sorted_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
