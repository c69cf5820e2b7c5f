"""supported_quantization is one string."""

import dataclasses
import importlib

NAME = "supported_quantization is one string"
KILLED_BY = "platform.answers-about-its-device"
RELEASES = ">=0.5.11"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        supported_quantization = ",".join(base.supported_quantization)

    return dataclasses.replace(reference, platform=Mutant)
