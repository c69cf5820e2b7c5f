"""Requests are taken in the order of their pool rows."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Requests are taken in the order of their pool rows"
KILLED_BY = "attention-backend.batch-order-does-not-matter"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode():
                ordered, _ = forward_batch.req_pool_indices.sort()
                forward_batch = Changed(forward_batch, req_pool_indices=ordered)
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
