"""Memory is given in KiB."""

import dataclasses
import importlib

NAME = "Memory is given in KiB"
KILLED_BY = "platform.answers-about-its-device"
RELEASES = ">=0.5.11"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        def get_available_memory(self, device_id=0):
            free, total = super().get_available_memory(device_id)
            return free >> 10, total >> 10

    return dataclasses.replace(reference, platform=Mutant)
