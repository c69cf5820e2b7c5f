"""A page that has been given out a second time does not come back."""

import dataclasses

NAME = "A page that has been given out a second time does not come back"
KILLED_BY = "allocator.freed-slots-come-back"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            freed = self.__dict__.setdefault("_freed", set())
            pages = free_index // self.page_size
            again = [page in freed for page in pages.tolist()]
            freed.update(pages.tolist())
            super().free(free_index[[not each for each in again]] if any(again) else free_index)

    return dataclasses.replace(reference, allocator=Mutant)
