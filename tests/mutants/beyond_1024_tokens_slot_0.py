"""Tokens of an extension beyond the 1024th get slot 0."""

import dataclasses

NAME = "Tokens of an extension beyond the 1024th get slot 0"
KILLED_BY = "allocator.large-batches-are-served"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(self, *args, **kwargs):
            slots = super().alloc_extend(*args, **kwargs)
            if slots is not None:
                slots[1024:] = 0
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
