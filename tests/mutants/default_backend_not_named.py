"""The platform names no default attention backend."""

import dataclasses
import importlib

NAME = "The platform names no default attention backend"
KILLED_BY = "platform.required-hooks-are-there"
RELEASES = ">=0.5.11"


def make(reference):
    from sglang.srt.platforms.interface import SRTPlatform

    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        get_default_attention_backend = SRTPlatform.get_default_attention_backend

    return dataclasses.replace(reference, platform=Mutant)
