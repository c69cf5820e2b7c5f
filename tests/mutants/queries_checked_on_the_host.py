"""Every prefill layer copies its queries to the host for a check."""

import dataclasses

import torch

NAME = "Every prefill layer copies its queries to the host for a check"
KILLED_BY = "kv-path.never-goes-through-the-host"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            if not torch.isfinite(q.cpu()).all():
                raise ValueError("queries are not finite")
            return super().forward_extend(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
