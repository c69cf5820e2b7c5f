"""What exceeds the staging buffer of 4096 elements is not reduced."""

import dataclasses

NAME = "What exceeds the staging buffer of 4096 elements is not reduced"
KILLED_BY = "communicator.all-reduce-sums-every-rank"


def make(reference):
    class Mutant(reference.communicator):
        def all_reduce(self, tensor):
            kept = tensor.clone()
            result = super().all_reduce(tensor)
            result.view(-1)[4096:] = kept.view(-1)[4096:]
            return result

    return dataclasses.replace(reference, communicator=Mutant)
