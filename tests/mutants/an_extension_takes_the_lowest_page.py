"""After frees an extension takes the pages of the pool's beginning."""

import dataclasses

NAME = "After frees an extension takes the pages of the pool's beginning"
KILLED_BY = "allocator.extends-many-after-frees"


def make(reference):
    class Mutant(reference.allocator):
        def alloc_extend(self, prefix_lens, prefix_lens_cpu, seq_lens, *args, **kwargs):
            if len(seq_lens) > 2 and self.__dict__.get("_freed"):
                self.free_pages = self.free_pages.clone()
                self.free_pages[:2] = self.free_pages[:2].min()
            return super().alloc_extend(prefix_lens, prefix_lens_cpu, seq_lens, *args, **kwargs)

        def free(self, free_index):
            self._freed = True
            super().free(free_index)

    return dataclasses.replace(reference, allocator=Mutant)
