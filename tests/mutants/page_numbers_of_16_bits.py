"""Page numbers are cut to 16 bits."""

import dataclasses

NAME = "Page numbers are cut to 16 bits"
KILLED_BY = "attention-backend.slots-beyond-16-bits-are-reached"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            pages = getattr(self.forward_metadata, "block_tables", None)
            if pages is not None:
                pages.bitwise_and_(0xFFFF)

    return dataclasses.replace(reference, make_backend=Mutant)
