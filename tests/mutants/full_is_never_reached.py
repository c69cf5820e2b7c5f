"""The last free page is not given out."""

import dataclasses

NAME = "The last free page is not given out"
KILLED_BY = "allocator.says-none-when-full"


def make(reference):
    class Mutant(reference.allocator):
        def alloc(self, need_size):
            return None if need_size >= self.available_size() else super().alloc(need_size)

        def _has(self, pages):
            return super()._has(pages) and pages < len(self.free_pages)

    return dataclasses.replace(reference, allocator=Mutant)
