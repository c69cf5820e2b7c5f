"""An entry point that runs again registers its hooks again."""

import dataclasses

NAME = "An entry point that runs again registers its hooks again"
KILLED_BY = "plugin.entry-points-may-run-twice"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType

        for entry in reference.register:
            entry()
        HookRegistry.register(
            "sglang.srt.layers.layernorm.RMSNorm.forward_native",
            lambda original, *args, **kwargs: original(*args, **kwargs),
            HookType.AROUND,
        )

    return dataclasses.replace(reference, register=(mutant,))
