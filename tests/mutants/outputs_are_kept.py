"""Every decode output is kept for debugging."""

import dataclasses

NAME = "Every decode output is kept for debugging"
KILLED_BY = "decode.allocates-nothing-that-stays"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, *args, **kwargs):
            out = super().forward_decode(*args, **kwargs)
            self.__dict__.setdefault("_history", []).append(out.clone())
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
