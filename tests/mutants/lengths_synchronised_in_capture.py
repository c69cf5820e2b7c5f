"""Lengths are read by the host inside a capture."""

import dataclasses

NAME = "Lengths are read by the host inside a capture"
KILLED_BY = "graph.capture-neither-waits-nor-copies"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            if int(forward_batch.seq_lens[0]) < 1:
                raise ValueError("an empty request")
            return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
