"""The rows of the request pool are taken for int64."""

import dataclasses

import torch

NAME = "The rows of the request pool are taken for int64"
KILLED_BY = "attention-backend.serves-every-declared-mode"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            rows = forward_batch.req_pool_indices
            if rows.dtype != torch.int64:
                raise TypeError(f"expected int64 rows, got {rows.dtype}")
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
