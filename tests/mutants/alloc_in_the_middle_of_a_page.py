"""alloc() of whole pages begins in the middle of one."""

import dataclasses

NAME = "alloc() of whole pages begins in the middle of one"
KILLED_BY = "allocator.alloc-gives-whole-pages"


def make(reference):
    class Mutant(reference.allocator):
        def alloc(self, need_size):
            slots = super().alloc(need_size)
            if slots is None or self.page_size == 1:
                return slots
            return slots + self.page_size // 2

    return dataclasses.replace(reference, allocator=Mutant)
