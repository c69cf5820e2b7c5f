"""all_reduce hands out its staging buffer, which the next one overwrites."""

import dataclasses

NAME = "all_reduce hands out its staging buffer, which the next one overwrites"
KILLED_BY = "communicator.all-reduce-sums-every-rank"


def make(reference):
    class Mutant(reference.communicator):
        def all_reduce(self, tensor):
            kept = self.__dict__.setdefault("_staging", {})
            stage = kept.setdefault(tensor.dtype, tensor.new_empty(1 << 20))[: tensor.numel()]
            return super().all_reduce(stage.view(tensor.shape).copy_(tensor))

    return dataclasses.replace(reference, communicator=Mutant)
