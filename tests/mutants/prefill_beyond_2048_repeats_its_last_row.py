"""Of a prefill, the rows beyond 2,048 are the last of the first 2,048."""

import dataclasses

NAME = "Of a prefill, the rows beyond 2,048 are the last of the first 2,048"
KILLED_BY = "attention-backend.long-prefills-equal-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, *args, **kwargs):
            out = super().forward_extend(*args, **kwargs)
            if len(out) > 2048:
                out[2048:] = out[2047].clone()
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
