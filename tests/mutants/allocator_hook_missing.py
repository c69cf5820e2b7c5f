"""The platform does not say which allocator to use."""

import dataclasses
import importlib

NAME = "The platform does not say which allocator to use"
KILLED_BY = "platform.required-hooks-are-there"
RELEASES = ">=0.5.11,<0.5.22"


def make(reference):
    from sglang.srt.platforms.interface import SRTPlatform

    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        get_paged_allocator_cls = SRTPlatform.get_paged_allocator_cls

    return dataclasses.replace(reference, platform=Mutant)
