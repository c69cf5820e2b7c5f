"""alloc_extend moves the callers' last slots on in place."""

import dataclasses

NAME = "alloc_extend moves the callers' last slots on in place"
KILLED_BY = "allocator.tensors-are-the-callers"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(
            self, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc, *args, **kwargs
        ):
            given = prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc
            slots = super().alloc_extend(*given, *args, **kwargs)
            last_loc.add_(1)
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
