"""Slots come as int32."""

import dataclasses

NAME = "Slots come as int32"
KILLED_BY = "allocator.slots-are-nobody-elses"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_decode(self, *args, **kwargs):
            slots = super().alloc_decode(*args, **kwargs)
            return None if slots is None else slots.int()

    return dataclasses.replace(reference, allocator=Mutant)
