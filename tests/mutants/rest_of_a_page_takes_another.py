"""An extension that just fills a page takes one page more."""

import dataclasses

NAME = "An extension that just fills a page takes one page more"
KILLED_BY = "allocator.counts-what-is-free"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(self, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, *rest):
            slots = super().alloc_extend(
                prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, *rest
            )
            inside = (prefix_lens_cpu % self.page_size > 0) & (seq_lens_cpu % self.page_size == 0)
            if slots is not None and self.page_size > 1 and bool(inside.any()):
                self.free_pages = self.free_pages[1:]
            return slots

    return dataclasses.replace(reference, allocator=Mutant)
