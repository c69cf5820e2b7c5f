"""The last token's row is cut off."""

import dataclasses

NAME = "The last token's row is cut off"
KILLED_BY = "attention-backend.result-has-contracted-shape"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, *args, **kwargs):
            return super().forward_decode(*args, **kwargs)[:-1]

    return dataclasses.replace(reference, make_backend=Mutant)
