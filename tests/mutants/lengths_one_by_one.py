"""Metadata are built with one transfer a request."""

import dataclasses

NAME = "Metadata are built with one transfer a request"
KILLED_BY = "metadata.costs-the-same-for-every-batch-size"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            for length in forward_batch.seq_lens:
                int(length)
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
