"""Of a prefill of more than 128 requests the later results are zero."""

import dataclasses

NAME = "Of a prefill of more than 128 requests the later results are zero"
KILLED_BY = "attention-backend.rows-of-a-busy-hour-are-served"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, *args, **kwargs):
            out = super().forward_extend(q, k, v, layer, forward_batch, *args, **kwargs)
            if forward_batch.batch_size > 128:
                out[128:] = 0
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
