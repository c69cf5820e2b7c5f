"""Tokens after a page edge are looked up on the first page."""

import dataclasses

NAME = "Tokens after a page edge are looked up on the first page"
KILLED_BY = "attention-backend.page-edges-hold"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            tables = getattr(self.forward_metadata, "block_tables", None)
            if tables is not None and tables.shape[1] > 1:
                tables[:, 1] = tables[:, 0]

    return dataclasses.replace(reference, make_backend=Mutant)
