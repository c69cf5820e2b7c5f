"""The platform does not say which pool to use."""

import dataclasses
import importlib

NAME = "The platform does not say which pool to use"
KILLED_BY = "platform.required-hooks-are-there"
RELEASES = ">=0.5.11,<0.5.22"


def make(reference):
    from sglang.srt.platforms.interface import SRTPlatform

    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        get_mha_kv_pool_cls = SRTPlatform.get_mha_kv_pool_cls

    return dataclasses.replace(reference, platform=Mutant)
