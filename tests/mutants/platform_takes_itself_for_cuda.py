"""The platform says that it is CUDA."""

import dataclasses
import importlib

NAME = "The platform says that it is CUDA"
KILLED_BY = "platform.activates-with-its-runtime"
RELEASES = ">=0.5.11"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        def __init__(self):
            super().__init__()
            self._enum = type(base._enum).CUDA

    return dataclasses.replace(reference, platform=Mutant)
