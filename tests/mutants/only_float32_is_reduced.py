"""Only float32 is reduced: bfloat16 is left as each rank has it."""

import dataclasses

NAME = "Only float32 is reduced: bfloat16 is left as each rank has it"
KILLED_BY = "communicator.all-reduce-sums-every-rank"


def make(reference):
    class Mutant(reference.communicator):
        def all_reduce(self, tensor):
            return super().all_reduce(tensor) if tensor.element_size() == 4 else tensor

    return dataclasses.replace(reference, communicator=Mutant)
