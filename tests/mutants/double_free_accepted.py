"""Slots that are freed twice are free twice."""

import dataclasses

import torch

NAME = "Slots that are freed twice are free twice"
KILLED_BY = "allocator.double-free-is-refused"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            pages = torch.unique(free_index // self.page_size)
            self.free_pages = torch.cat([self.free_pages, pages.to(self.free_pages.dtype)])

    return dataclasses.replace(reference, allocator=Mutant)
