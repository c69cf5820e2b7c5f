"""A rank that has no tokens cannot take part in a reduction."""

import dataclasses

NAME = "A rank that has no tokens cannot take part in a reduction"
KILLED_BY = "communicator.all-reduce-sums-every-rank"


def make(reference):
    class Mutant(reference.communicator):
        def all_reduce(self, tensor):
            if not tensor.numel():
                raise ValueError("nothing to reduce")
            return super().all_reduce(tensor)

    return dataclasses.replace(reference, communicator=Mutant)
