"""An idle batch has no longest sequence, and raises."""

import dataclasses

NAME = "An idle batch has no longest sequence, and raises"
KILLED_BY = "attention-backend.serves-an-idle-batch"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            forward_batch.seq_lens.max()
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
