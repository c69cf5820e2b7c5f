"""Decode begins a page for every token."""

import dataclasses

NAME = "Decode begins a page for every token"
KILLED_BY = "allocator.slots-are-nobody-elses"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_decode(self, seq_lens, *args, **kwargs):
            if len(self.free_pages) < len(seq_lens):
                return None
            pages, self.free_pages = (
                self.free_pages[: len(seq_lens)],
                self.free_pages[len(seq_lens) :],
            )
            return pages.long() * self.page_size

    return dataclasses.replace(reference, allocator=Mutant)
