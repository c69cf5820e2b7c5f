"""The hooked RMSNorm takes one epsilon for all models."""

import dataclasses

NAME = "The hooked RMSNorm takes one epsilon for all models"
KILLED_BY = "hooks.norms-equal-the-textbook"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry

        for entry in reference.register:
            entry()
        target = "sglang.srt.layers.layernorm.RMSNorm.forward_native"
        ((kind, hook, source),) = HookRegistry._hooks[target]

        def changed(original, *args, **kwargs):
            args[0].variance_epsilon = 1e-6
            return hook(original, *args, **kwargs)

        HookRegistry._hooks[target] = [(kind, changed, source)]

    return dataclasses.replace(reference, register=(mutant,))
