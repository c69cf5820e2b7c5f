"""Decode leaves the attention sinks out."""

import dataclasses

NAME = "Decode leaves the attention sinks out"
KILLED_BY = "attention-backend.layers-are-obeyed-or-refused"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, *args, sinks=None, **kwargs):
            return super().forward_decode(*args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
