"""Rows of queries, keys and values are taken to follow each other."""

import dataclasses

import torch

NAME = "Rows of queries, keys and values are taken to follow each other"
KILLED_BY = "attention-backend.takes-slices-of-a-fused-projection"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            q = torch.as_strided(q, q.shape, (q.shape[1], 1))
            return super().forward_extend(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
