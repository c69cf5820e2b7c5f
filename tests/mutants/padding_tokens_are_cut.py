"""Padding tokens of a prefill are cut, and their rows never come back."""

import dataclasses

NAME = "Padding tokens of a prefill are cut, and their rows never come back"
KILLED_BY = "attention-backend.padded-batches-are-served"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, *args, **kwargs):
            out = super().forward_extend(q, *args, **kwargs)
            return out[: int(self.forward_metadata.q_lod_cpu[-1])]

    return dataclasses.replace(reference, make_backend=Mutant)
