"""The batch's lengths are advanced in place."""

import dataclasses

NAME = "The batch's lengths are advanced in place"
KILLED_BY = "attention-backend.inputs-are-left-alone"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            out = super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)
            forward_batch.seq_lens.add_(1)
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
