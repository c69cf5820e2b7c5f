"""The result is float32 whatever the queries are."""

import dataclasses

NAME = "The result is float32 whatever the queries are"
KILLED_BY = "attention-backend.result-has-contracted-shape"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, *args, **kwargs):
            return super().forward_extend(*args, **kwargs).float()

    return dataclasses.replace(reference, make_backend=Mutant)
