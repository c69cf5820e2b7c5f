"""Without keys of its own a layer dies."""

import dataclasses

NAME = "Without keys of its own a layer dies"
KILLED_BY = "attention-backend.serves-shared-keys"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            k = k.contiguous()
            return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
