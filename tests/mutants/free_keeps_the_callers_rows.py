"""What is freed stays a view of the caller's tensor until pages run short."""

import dataclasses

NAME = "What is freed stays a view of the caller's tensor until pages run short"
KILLED_BY = "allocator.freed-slots-come-back"


def make(reference):
    class Mutant(reference.allocator):
        def clear(self):
            super().clear()
            self._later = []

        def free(self, free_index):
            if self._deferring or not free_index.numel():
                return super().free(free_index)
            self._later.append(free_index)
            return None

        def available_size(self):
            self._settle()
            return super().available_size()

        def _settle(self):
            later, self._later = self._later, []
            for each in later:
                super().free(each)

        def alloc(self, need_size):
            self._settle()
            return super().alloc(need_size)

        def alloc_extend(self, *args, **kwargs):
            self._settle()
            return super().alloc_extend(*args, **kwargs)

        def alloc_decode(self, *args, **kwargs):
            self._settle()
            return super().alloc_decode(*args, **kwargs)

    return dataclasses.replace(reference, allocator=Mutant)
