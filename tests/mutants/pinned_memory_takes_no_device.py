"""is_pin_memory_available() has the old signature."""

import dataclasses
import importlib

NAME = "is_pin_memory_available() has the old signature"
KILLED_BY = "platform.answers-about-its-device"
RELEASES = ">=0.5.16"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        def is_pin_memory_available(self):
            return False

    return dataclasses.replace(reference, platform=Mutant)
