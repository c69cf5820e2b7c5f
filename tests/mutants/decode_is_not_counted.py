"""Pages that decode takes stay counted as free."""

import dataclasses

NAME = "Pages that decode takes stay counted as free"
KILLED_BY = "allocator.counts-what-is-free"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_decode(self, *args, **kwargs):
            before = super().available_size()
            slots = super().alloc_decode(*args, **kwargs)
            self._uncounted = self.__dict__.get("_uncounted", 0) + before - super().available_size()
            return slots

        def available_size(self):
            return super().available_size() + self.__dict__.get("_uncounted", 0)

    return dataclasses.replace(reference, allocator=Mutant)
