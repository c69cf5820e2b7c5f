"""all_reduce of a tensor that is not contiguous reduces a copy."""

import dataclasses

NAME = "all_reduce of a tensor that is not contiguous reduces a copy"
KILLED_BY = "communicator.all-reduce-sums-every-rank"


def make(reference):
    class Mutant(reference.communicator):
        def all_reduce(self, tensor):
            if tensor.is_contiguous():
                return super().all_reduce(tensor)
            super().all_reduce(tensor.contiguous())
            return tensor

    return dataclasses.replace(reference, communicator=Mutant)
