"""Where the result has the queries' size it is written over them."""

import dataclasses

NAME = "Where the result has the queries' size it is written over them"
KILLED_BY = "attention-backend.results-are-memory-of-their-own"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, *args, **kwargs):
            out = super().forward_decode(q, *args, **kwargs)
            return q.view_as(out).copy_(out) if q.numel() == out.numel() else out

    return dataclasses.replace(reference, make_backend=Mutant)
