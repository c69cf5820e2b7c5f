"""What is freed by segment is not booked: freed again it is free twice."""

import dataclasses

NAME = "What is freed by segment is not booked: freed again it is free twice"
KILLED_BY = "allocator.double-free-is-refused"
RELEASES = ">=0.5.17"


def make(reference):
    class Mutant(reference.allocator):
        def free_segment(self, free_index, *, start_pos):
            upstream = next(c for c in type(self).__mro__ if c.__module__.startswith("sglang."))
            upstream.free_segment(self, free_index, start_pos=start_pos)

    return dataclasses.replace(reference, allocator=Mutant)
