"""A full pool is an exception."""

import dataclasses

NAME = "A full pool is an exception"
KILLED_BY = "allocator.says-none-when-full"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(self, *args, **kwargs):
            slots = super().alloc_extend(*args, **kwargs)
            if slots is None:
                raise RuntimeError("out of KV slots")
            return slots

        def alloc(self, need_size):
            slots = super().alloc(need_size)
            if slots is None:
                raise RuntimeError("out of KV slots")
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
