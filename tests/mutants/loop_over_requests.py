"""Decode goes through its requests one after the other."""

import dataclasses

import torch

NAME = "Decode goes through its requests one after the other"
KILLED_BY = "decode.launches-do-not-grow-with-the-batch"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_decode(q, k, v, layer, *args, **kwargs)
            return torch.stack([row * 1.0 for row in out])

    return dataclasses.replace(reference, make_backend=Mutant)
