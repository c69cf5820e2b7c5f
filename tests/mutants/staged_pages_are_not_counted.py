"""Where pages are sorted later those that wait for it are not counted."""

import dataclasses

NAME = "Where pages are sorted later those that wait for it are not counted"
KILLED_BY = "allocator.counts-what-is-free"


def make(reference):
    class Mutant(reference.allocator):
        def available_size(self):
            if self.need_sort:
                return len(self.free_pages) * self.page_size
            return super().available_size()

    return dataclasses.replace(reference, allocator=Mutant)
