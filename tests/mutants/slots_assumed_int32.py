"""The slots are taken for int32 and refused as int64."""

import dataclasses

import torch

NAME = "The slots are taken for int32 and refused as int64"
KILLED_BY = "attention-backend.serves-every-declared-mode"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            slots = forward_batch.out_cache_loc
            if slots is not None and slots.dtype != torch.int32:
                raise TypeError(f"expected int32 slots, got {slots.dtype}")
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
