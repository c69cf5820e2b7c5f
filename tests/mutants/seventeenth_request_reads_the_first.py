"""From the seventeenth request on a decode batch reads the first one's cache."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "From the seventeenth request on a decode batch reads the first one's cache"
KILLED_BY = "text.twenty-requests-keep-their-own"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode() and forward_batch.batch_size > 16:
                rows = forward_batch.req_pool_indices.clone()
                rows[16:] = rows[0]
                forward_batch = Changed(forward_batch, req_pool_indices=rows)
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
