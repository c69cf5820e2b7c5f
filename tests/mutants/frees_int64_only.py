"""free() takes int64 slots and refuses the request table's int32."""

import dataclasses

import torch

NAME = "free() takes int64 slots and refuses the request table's int32"
KILLED_BY = "allocator.tensors-are-the-callers"


def make(reference):
    class Mutant(reference.allocator):
        def free(self, free_index):
            if free_index.dtype != torch.int64:
                raise TypeError(f"slots must be int64, not {free_index.dtype}")
            super().free(free_index)

    return dataclasses.replace(reference, allocator=Mutant)
