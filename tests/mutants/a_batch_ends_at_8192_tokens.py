"""Tokens of a prefill batch beyond the 8,192nd get no result."""

import dataclasses

NAME = "Tokens of a prefill batch beyond the 8,192nd get no result"
KILLED_BY = "attention-backend.long-prefills-equal-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, *args, **kwargs):
            out = super().forward_extend(*args, **kwargs)
            out[8192:] = 0
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
