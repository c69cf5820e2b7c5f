"""The platform gives an allocator of its own, not the class."""

import dataclasses
import importlib

NAME = "The platform gives an allocator of its own, not the class"
KILLED_BY = "platform.names-fitting-classes"
RELEASES = ">=0.5.11"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        def get_paged_allocator_cls(self):
            return super().get_paged_allocator_cls().__name__

    return dataclasses.replace(reference, platform=Mutant)
