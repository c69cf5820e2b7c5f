"""After a free the page is given to two requests."""

import dataclasses

import torch

NAME = "After a free the page is given to two requests"
KILLED_BY = "allocator.slots-are-nobody-elses"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            super().free(free_index)
            if free_index.numel():
                again = (free_index[:1] // self.page_size).to(self.free_pages.dtype)
                self.free_pages = torch.cat([self.free_pages, again])

    return dataclasses.replace(reference, allocator=Mutant)
