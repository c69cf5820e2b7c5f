"""Prefill goes through its requests one after the other."""

import dataclasses

import torch

NAME = "Prefill goes through its requests one after the other"
KILLED_BY = "prefill.launches-do-not-grow-with-the-batch"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, *args, **kwargs):
            out = super().forward_extend(q, k, v, layer, forward_batch, *args, **kwargs)
            parts = out.split(list(forward_batch.extend_seq_lens_cpu))
            return torch.cat([part * 1.0 for part in parts])

    return dataclasses.replace(reference, make_backend=Mutant)
