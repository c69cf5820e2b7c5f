"""Metadata are made request by request."""

import dataclasses

NAME = "Metadata are made request by request"
KILLED_BY = "metadata.launches-do-not-grow-with-the-batch"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            self._ends = [length + 1 for length in forward_batch.seq_lens.unbind()]

    return dataclasses.replace(reference, make_backend=Mutant)
