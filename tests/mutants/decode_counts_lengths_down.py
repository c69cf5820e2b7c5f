"""alloc_decode counts the caller's lengths down in place."""

import dataclasses

NAME = "alloc_decode counts the caller's lengths down in place"
KILLED_BY = "allocator.tensors-are-the-callers"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_decode(self, seq_lens, seq_lens_cpu, last_loc):
            slots = super().alloc_decode(seq_lens, seq_lens_cpu, last_loc)
            seq_lens.sub_(1)
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
