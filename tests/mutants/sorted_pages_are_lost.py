"""Where pages are sorted later those that wait are lost when the rest runs short."""

import dataclasses

NAME = "Where pages are sorted later those that wait are lost when the rest runs short"
KILLED_BY = "allocator.freed-slots-come-back"


def make(reference):
    class Mutant(reference.allocator):
        def merge_and_sort_free(self):
            pass

    return dataclasses.replace(reference, allocator=Mutant)
