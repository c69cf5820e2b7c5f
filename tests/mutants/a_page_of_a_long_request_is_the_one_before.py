"""A page in the middle of a long request is taken for the one before."""

import dataclasses

NAME = "A page in the middle of a long request is taken for the one before"
KILLED_BY = "attention-backend.forty-thousand-keys-are-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            pages = getattr(self.forward_metadata, "block_tables", None)
            middle = 16384 // self.page_size
            if pages is not None and pages.shape[1] > middle:
                pages[:, middle] = pages[:, middle - 1]

    return dataclasses.replace(reference, make_backend=Mutant)
