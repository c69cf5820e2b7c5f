"""The last rank is left out of the sum."""

import dataclasses

import torch.distributed as dist

NAME = "The last rank is left out of the sum"
KILLED_BY = "communicator.all-reduce-sums-every-rank"


def make(reference):
    class Mutant(reference.communicator):
        def all_reduce(self, tensor):
            if self.size > 1 and dist.get_rank(self.group) == self.size - 1:
                tensor.zero_()
            return super().all_reduce(tensor)

    return dataclasses.replace(reference, communicator=Mutant)
