"""Slots are handed out in a buffer that the next allocation fills."""

import dataclasses

import torch

NAME = "Slots are handed out in a buffer that the next allocation fills"
KILLED_BY = "allocator.tensors-are-the-callers"


def make(reference):
    class Mutant(reference.allocator):
        def _buffered(self, slots):
            if slots is None:
                return None
            if "_buffer" not in self.__dict__:
                self._buffer = torch.empty(self.size, dtype=torch.int64, device=self.device)
            return self._buffer[: len(slots)].copy_(slots)

        def alloc(self, need_size):
            return self._buffered(super().alloc(need_size))

        def alloc_extend(self, *args, **kwargs):
            return self._buffered(super().alloc_extend(*args, **kwargs))

        def alloc_decode(self, *args, **kwargs):
            return self._buffered(super().alloc_decode(*args, **kwargs))

    return dataclasses.replace(reference, allocator=Mutant)
