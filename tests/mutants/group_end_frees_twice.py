"""The end of a group frees its pages twice."""

import dataclasses

import torch

NAME = "The end of a group frees its pages twice"
KILLED_BY = "allocator.free-group-is-one-free"


def make(reference):
    class Mutant(reference.allocator):
        def free_group_begin(self):
            super().free_group_begin()
            self._before = self.available_size()

        def free_group_end(self):
            super().free_group_end()
            gained = (self.available_size() - self._before) // self.page_size
            if gained:
                self.free_pages = torch.cat([self.free_pages, self.free_pages[-gained:]])

    return dataclasses.replace(reference, allocator=Mutant)
