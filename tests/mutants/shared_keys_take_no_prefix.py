"""Without keys of its own a prefill sees nothing."""

import dataclasses

import torch

NAME = "Without keys of its own a prefill sees nothing"
KILLED_BY = "attention-backend.serves-shared-keys"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_extend(q, k, v, layer, *args, **kwargs)
            return out if k is not None else torch.zeros_like(out)

    return dataclasses.replace(reference, make_backend=Mutant)
