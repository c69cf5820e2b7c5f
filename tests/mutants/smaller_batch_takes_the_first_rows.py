"""A decode batch that has shrunk reads the tables of the requests that came first."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A decode batch that has shrunk reads the tables of the requests that came first"
KILLED_BY = "attention-backend.batch-order-does-not-matter"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode():
                kept, rows = self.__dict__.get("_rows"), forward_batch.req_pool_indices
                if kept is not None and len(rows) < len(kept):
                    forward_batch = Changed(forward_batch, req_pool_indices=kept[: len(rows)])
                self._rows = rows.clone()
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
