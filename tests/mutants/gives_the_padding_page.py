"""The padding page is given out."""

import dataclasses

NAME = "The padding page is given out"
KILLED_BY = "allocator.slots-are-nobody-elses"


def make(reference):
    class Mutant(reference.allocator):
        def clear(self):
            super().clear()
            self.free_pages[0] = 0

    return dataclasses.replace(reference, allocator=Mutant)
