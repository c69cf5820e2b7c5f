"""clear() keeps what is given out."""

import dataclasses

NAME = "clear() keeps what is given out"
KILLED_BY = "allocator.clear-forgets-everything"


def make(reference):
    class Mutant(reference.allocator):
        def clear(self):
            before = self.__dict__.get("free_pages")
            super().clear()
            if before is not None:
                self.free_pages = before

    return dataclasses.replace(reference, allocator=Mutant)
