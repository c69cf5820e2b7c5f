"""From the thirty-third request of a decode on the slot is the first one's."""

import dataclasses

NAME = "From the thirty-third request of a decode on the slot is the first one's"
KILLED_BY = "allocator.large-batches-are-served"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_decode(self, *args, **kwargs):
            slots = super().alloc_decode(*args, **kwargs)
            if slots is not None and len(slots) > 32:
                slots[32:] = slots[0]
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
