"""The metadata of every prefill are kept."""

import dataclasses

NAME = "The metadata of every prefill are kept"
KILLED_BY = "prefill.allocates-nothing-that-stays"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            if forward_batch.forward_mode.is_extend():
                self.__dict__.setdefault("_history", []).append(self.forward_metadata)

    return dataclasses.replace(reference, make_backend=Mutant)
