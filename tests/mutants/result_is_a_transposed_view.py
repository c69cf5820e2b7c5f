"""The result is a transposed view, which models cannot view by heads."""

import dataclasses

NAME = "The result is a transposed view, which models cannot view by heads"
KILLED_BY = "attention-backend.results-are-memory-of-their-own"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, *args, **kwargs):
            out = super().forward_extend(*args, **kwargs)
            return out.t().contiguous().t()

    return dataclasses.replace(reference, make_backend=Mutant)
