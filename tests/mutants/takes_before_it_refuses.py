"""A request that does not fit still takes pages."""

import dataclasses

NAME = "A request that does not fit still takes pages"
KILLED_BY = "allocator.says-none-when-full"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(self, *args, **kwargs):
            slots = super().alloc_extend(*args, **kwargs)
            if slots is None:
                self.free_pages = self.free_pages[1:]
            return slots

        def alloc(self, need_size):
            slots = super().alloc(need_size)
            if slots is None:
                self.free_pages = self.free_pages[1:]
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
