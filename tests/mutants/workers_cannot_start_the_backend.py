"""init_backend() takes the rank, which core does not pass."""

import dataclasses
import importlib

NAME = "init_backend() takes the rank, which core does not pass"
KILLED_BY = "platform.answers-about-its-device"
RELEASES = ">=0.5.11"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        def init_backend(self, rank):
            super().init_backend()

    return dataclasses.replace(reference, platform=Mutant)
