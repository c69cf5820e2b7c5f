"""The backend of process groups is given as a pair."""

import dataclasses
import importlib

NAME = "The backend of process groups is given as a pair"
KILLED_BY = "platform.answers-about-its-device"
RELEASES = ">=0.5.11"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        def get_torch_distributed_backend_str(self):
            return "cpu", "gloo"

    return dataclasses.replace(reference, platform=Mutant)
