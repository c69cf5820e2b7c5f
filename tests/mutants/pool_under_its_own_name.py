"""The backend keeps the pool under a private name only."""

import dataclasses
import sys

NAME = "The backend keeps the pool under a private name only"
KILLED_BY = "attention-backend.keeps-what-core-reads-off-it"
RELEASES = ">=0.5.13"


def make(reference):
    class Mutant(reference.make_backend):
        def __getattribute__(self, name):
            if (
                name == "token_to_kv_pool"
                and "sglang_contracts" in sys._getframe(1).f_globals["__name__"]
            ):
                raise AttributeError(name)
            return super().__getattribute__(name)

    return dataclasses.replace(reference, make_backend=Mutant)
