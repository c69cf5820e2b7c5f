"""Freeing a request loses its last page."""

import dataclasses

NAME = "Freeing a request loses its last page"
KILLED_BY = "allocator.freed-slots-come-back"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            pages = free_index // self.page_size
            kept = pages != pages.max() if free_index.numel() > self.page_size else pages >= 0
            super().free(free_index[kept])

    return dataclasses.replace(reference, allocator=Mutant)
