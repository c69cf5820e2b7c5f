"""What is freed in a group stays booked as given out."""

import dataclasses

NAME = "What is freed in a group stays booked as given out"
KILLED_BY = "allocator.double-free-is-refused"


def make(reference):
    class Mutant(reference.allocator):
        def free_group_end(self):
            kept = self._out.clone()
            super().free_group_end()
            self._out.copy_(kept)

    return dataclasses.replace(reference, allocator=Mutant)
