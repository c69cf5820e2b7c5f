"""A decode that takes the last free page is refused."""

import dataclasses

NAME = "A decode that takes the last free page is refused"
KILLED_BY = "allocator.says-none-when-full"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_decode(self, seq_lens, seq_lens_cpu, last_loc):
            pages = int((self._pages(seq_lens_cpu) - self._pages(seq_lens_cpu - 1)).sum())
            if pages and pages * self.page_size == self.available_size():
                return None
            return super().alloc_decode(seq_lens, seq_lens_cpu, last_loc)

    return dataclasses.replace(reference, allocator=Mutant)
