"""The sum is divided by the number of ranks."""

import dataclasses

NAME = "The sum is divided by the number of ranks"
KILLED_BY = "communicator.all-reduce-sums-every-rank"


def make(reference):
    class Mutant(reference.communicator):
        def all_reduce(self, tensor):
            return super().all_reduce(tensor).div_(self.size)

    return dataclasses.replace(reference, communicator=Mutant)
