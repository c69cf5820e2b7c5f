"""Slots of each extension come in the same vector."""

import dataclasses

NAME = "Slots of each extension come in the same vector"
KILLED_BY = "allocator.tensors-are-the-callers"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(self, *args, **kwargs):
            slots = super().alloc_extend(*args, **kwargs)
            kept = self.__dict__.setdefault("_vector", slots)
            if slots is None or kept is None or len(kept) < len(slots):
                self._vector = slots
                return slots
            return kept[: len(slots)].copy_(slots)

    return dataclasses.replace(reference, allocator=Mutant)
