"""Requests whose lengths are all alike are decoded from the first one's pages."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Requests whose lengths are all alike are decoded from the first one's pages"
KILLED_BY = "attention-backend.batch-order-does-not-matter"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            lens = forward_batch.seq_lens
            alike = forward_batch.batch_size > 1 and bool((lens == lens[0]).all())
            if forward_batch.forward_mode.is_decode() and alike and int(lens[0]) > 12:
                rows = forward_batch.req_pool_indices.clone()
                rows[:] = rows[0]
                forward_batch = Changed(forward_batch, req_pool_indices=rows)
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
