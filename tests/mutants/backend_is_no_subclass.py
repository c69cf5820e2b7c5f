"""The backend only looks like an AttentionBackend."""

import dataclasses

NAME = "The backend only looks like an AttentionBackend"
KILLED_BY = "attention-backend.is-an-attention-backend"


def make(reference):
    class Mutant:
        def __init__(self, model_runner):
            self.inner = reference.make_backend(model_runner)

        def __getattr__(self, name):
            return getattr(self.inner, name)

    return dataclasses.replace(reference, make_backend=Mutant)
