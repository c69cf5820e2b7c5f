"""The allocator gives its size in pages."""

import dataclasses

NAME = "The allocator gives its size in pages"
KILLED_BY = "allocator.says-what-it-is"


def make(reference):
    class Mutant(reference.allocator):
        def __init__(self, size, page_size, *args, **kwargs):
            super().__init__(size, page_size, *args, **kwargs)
            self.size = size // page_size

    return dataclasses.replace(reference, allocator=Mutant)
