"""From the fifth request on a prefill reads the first one's pages."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "From the fifth request on a prefill reads the first one's pages"
KILLED_BY = "text.twenty-requests-keep-their-own"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_extend() and forward_batch.batch_size > 4:
                rows = forward_batch.req_pool_indices.clone()
                rows[4:] = rows[0]
                forward_batch = Changed(forward_batch, req_pool_indices=rows)
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
