"""Where the runtime is missing, hooks are registered all the same."""

import dataclasses

NAME = "Where the runtime is missing, hooks are registered all the same"
KILLED_BY = "platform.declining-costs-nothing"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType

        for entry in reference.register:
            entry()
        target = "sglang.srt.utils.common.get_device_name"
        HookRegistry.register(target, lambda *args: "kunlun", HookType.REPLACE)

    return dataclasses.replace(reference, register=(mutant,))
