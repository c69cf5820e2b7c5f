"""free() sorts the caller's slots in place."""

import dataclasses

NAME = "free() sorts the caller's slots in place"
KILLED_BY = "allocator.tensors-are-the-callers"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            free_index.copy_(free_index.sort().values)
            super().free(free_index)

    return dataclasses.replace(reference, allocator=Mutant)
