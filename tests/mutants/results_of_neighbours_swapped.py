"""Two neighbours of a batch of four get each other's result."""

import dataclasses

NAME = "Two neighbours of a batch of four get each other's result"
KILLED_BY = "attention-backend.batch-order-does-not-matter"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, *args, **kwargs):
            out = super().forward_decode(*args, **kwargs)
            if len(out) == 4:
                out = out[[0, 2, 1, 3]]
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
