"""Parts are gathered as float32 whatever they are."""

import dataclasses

NAME = "Parts are gathered as float32 whatever they are"
KILLED_BY = "communicator.all-gather-keeps-rank-order"


def make(reference):
    class Mutant(reference.communicator):
        def all_gather(self, tensor):
            return super().all_gather(tensor.float())

    return dataclasses.replace(reference, communicator=Mutant)
