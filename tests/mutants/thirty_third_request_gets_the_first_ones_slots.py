"""From the thirty-third request of an allocation on the slots are the first one's."""

import dataclasses

NAME = "From the thirty-third request of an allocation on the slots are the first one's"
KILLED_BY = "allocator.large-batches-are-served"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(self, prefix_lens, *args, **kwargs):
            slots = super().alloc_extend(prefix_lens, *args, **kwargs)
            if slots is not None and len(prefix_lens) > 32:
                slots[-1] = slots[0]
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
