"""A hook that runs before is registered on a class."""

import dataclasses

NAME = "A hook that runs before is registered on a class"
KILLED_BY = "hooks.are-applied"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType

        for entry in reference.register:
            entry()
        HookRegistry.register(
            "sglang.srt.layers.sampler.Sampler", lambda *args, **kwargs: None, HookType.BEFORE
        )

    return dataclasses.replace(reference, register=(mutant,))
