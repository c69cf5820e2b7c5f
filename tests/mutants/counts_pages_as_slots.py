"""available_size() gives pages."""

import dataclasses

NAME = "available_size() gives pages"
KILLED_BY = "allocator.counts-what-is-free"


def make(reference):
    class Mutant(reference.allocator):
        def available_size(self):
            return super().available_size() // self.page_size + self.page_size - 1

    return dataclasses.replace(reference, allocator=Mutant)
