"""A segment that starts after a prefix keeps its first page."""

import dataclasses

NAME = "A segment that starts after a prefix keeps its first page"
KILLED_BY = "allocator.counts-what-is-free"
RELEASES = ">=0.5.17"


def make(reference):
    class Mutant(reference.allocator):
        def free_segment(self, free_index, *, start_pos):
            self.free(free_index[self.page_size :] if start_pos else free_index)

    return dataclasses.replace(reference, allocator=Mutant)
