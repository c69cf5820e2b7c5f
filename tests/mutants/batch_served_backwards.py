"""The slots of a batch come in reverse."""

import dataclasses

NAME = "The slots of a batch come in reverse"
KILLED_BY = "allocator.batches-are-served-in-order"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_decode(self, *args, **kwargs):
            slots = super().alloc_decode(*args, **kwargs)
            return None if slots is None else slots.flip(0)

    return dataclasses.replace(reference, allocator=Mutant)
