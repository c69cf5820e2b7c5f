"""all_gather hands out its staging buffer, which the next one overwrites."""

import dataclasses

NAME = "all_gather hands out its staging buffer, which the next one overwrites"
KILLED_BY = "communicator.all-gather-keeps-rank-order"


def make(reference):
    class Mutant(reference.communicator):
        def all_gather(self, tensor):
            whole = super().all_gather(tensor)
            kept = self.__dict__.setdefault("_staging", {})
            stage = kept.setdefault(whole.dtype, whole.new_empty(1 << 20))[: whole.numel()]
            return stage.view(whole.shape).copy_(whole)

    return dataclasses.replace(reference, communicator=Mutant)
