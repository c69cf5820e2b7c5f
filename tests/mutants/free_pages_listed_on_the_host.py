"""Each allocation lists the free pages on the host."""

import dataclasses

NAME = "Each allocation lists the free pages on the host"
KILLED_BY = "allocator.does-not-wait-for-the-device"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_decode(self, *args, **kwargs):
            if 0 in self.free_pages.tolist():
                raise RuntimeError("the padding page is free")
            return super().alloc_decode(*args, **kwargs)

    return dataclasses.replace(reference, allocator=Mutant)
