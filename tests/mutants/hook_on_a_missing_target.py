"""A hook is registered on a target that does not exist."""

import dataclasses

NAME = "A hook is registered on a target that does not exist"
KILLED_BY = "hooks.targets-exist"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType

        for entry in reference.register:
            entry()
        HookRegistry.register(
            "sglang.srt.utils.common.get_accelerator_memory", lambda: 0, HookType.REPLACE
        )

    return dataclasses.replace(reference, register=(mutant,))
