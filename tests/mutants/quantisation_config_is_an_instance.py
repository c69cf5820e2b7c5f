"""The platform gives a quantisation config, not its class."""

import dataclasses
import importlib

NAME = "The platform gives a quantisation config, not its class"
KILLED_BY = "platform.names-fitting-classes"
RELEASES = ">=0.5.13"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        def get_quantization_config(self, quantization):
            found = super().get_quantization_config(quantization)
            return found.__name__ if found is not None else None

    return dataclasses.replace(reference, platform=Mutant)
