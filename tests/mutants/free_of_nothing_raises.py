"""free() of no slots raises."""

import dataclasses

NAME = "free() of no slots raises"
KILLED_BY = "allocator.free-group-is-one-free"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            if free_index.min() < self.page_size:
                raise ValueError("the padding page is nobody's")
            super().free(free_index)

    return dataclasses.replace(reference, allocator=Mutant)
