"""What is freed by segment does not come back."""

import dataclasses

NAME = "What is freed by segment does not come back"
KILLED_BY = "allocator.freed-slots-come-back"
RELEASES = ">=0.5.17"


def make(reference):
    class Mutant(reference.allocator):
        def free_segment(self, free_index, *, start_pos):
            pass

    return dataclasses.replace(reference, allocator=Mutant)
