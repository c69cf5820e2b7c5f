"""Slots freed in descending order are given back only in part."""

import dataclasses

NAME = "Slots freed in descending order are given back only in part"
KILLED_BY = "allocator.freed-slots-come-back"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            if free_index.numel() > 1 and bool(free_index[0] > free_index[-1]):
                free_index = free_index[free_index <= free_index[0] - self.page_size]
            super().free(free_index)

    return dataclasses.replace(reference, allocator=Mutant)
