"""An extension that just fills a page takes one page more."""

import dataclasses

NAME = "An extension that just fills a page takes one page more"
KILLED_BY = "allocator.counts-what-is-free"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(self, *args, **given):
            slots = super().alloc_extend(*args, **given)
            if slots is not None and slots.numel() > 1 and len(self.free_pages) > 1:
                begins = int(slots[0]) % self.page_size
                ends = (int(slots[-1]) + 1) % self.page_size
                if begins and not ends:
                    self.free_pages = self.free_pages[1:]
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
