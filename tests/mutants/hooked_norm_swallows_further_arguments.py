"""The hooked RMSNorm takes further arguments, and leaves them out."""

import dataclasses

NAME = "The hooked RMSNorm takes further arguments, and leaves them out"
KILLED_BY = "hooks.norms-equal-the-textbook"
RELEASES = ">=0.5.16"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry

        for entry in reference.register:
            entry()
        target = "sglang.srt.layers.layernorm.RMSNorm.forward_native"
        ((kind, hook, source),) = HookRegistry._hooks[target]

        def changed(original, norm, x, residual=None, *more, **options):
            return hook(original, norm, x, residual)

        HookRegistry._hooks[target] = [(kind, changed, source)]

    return dataclasses.replace(reference, register=(mutant,))
