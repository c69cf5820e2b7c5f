"""The 256th request of a decode batch reads the first one's cache."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The 256th request of a decode batch reads the first one's cache"
KILLED_BY = "attention-backend.rows-of-a-busy-hour-are-served"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode():
                rows = forward_batch.req_pool_indices.clone()
                rows[255:] = rows[0]
                forward_batch = Changed(forward_batch, req_pool_indices=rows)
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
