"""clear() raises while slots are out."""

import dataclasses

NAME = "clear() raises while slots are out"
KILLED_BY = "allocator.clear-forgets-everything"


def make(reference):
    class Mutant(reference.allocator):
        def clear(self):
            if getattr(self, "free_pages", None) is not None and self.available_size() < self.size:
                raise RuntimeError("slots are out")
            super().clear()

    return dataclasses.replace(reference, allocator=Mutant)
