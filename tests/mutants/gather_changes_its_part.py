"""all_gather uses the part that it is given as its buffer."""

import dataclasses

NAME = "all_gather uses the part that it is given as its buffer"
KILLED_BY = "communicator.all-gather-keeps-rank-order"


def make(reference):
    class Mutant(reference.communicator):
        def all_gather(self, tensor):
            whole = super().all_gather(tensor)
            tensor.copy_(whole[: len(tensor)])
            return whole

    return dataclasses.replace(reference, communicator=Mutant)
