"""A page is freed as often as slots of it are named."""

import dataclasses

import torch

NAME = "A page is freed as often as slots of it are named"
KILLED_BY = "allocator.counts-what-is-free"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            super().free(free_index)
            pages = free_index // self.page_size
            extra = len(pages) - len(pages.unique())
            if extra and not self._deferring:
                again = pages[:extra].to(self.free_pages.dtype)
                self.free_pages = torch.cat([self.free_pages, again])

    return dataclasses.replace(reference, allocator=Mutant)
