"""The hooked RMSNorm gives each result in the same memory."""

import dataclasses

NAME = "The hooked RMSNorm gives each result in the same memory"
KILLED_BY = "hooks.norms-equal-the-textbook"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry

        for entry in reference.register:
            entry()
        target = "sglang.srt.layers.layernorm.RMSNorm.forward_native"
        ((kind, hook, source),) = HookRegistry._hooks[target]
        kept = {}

        def changed(original, norm, x, residual=None, *args, **kwargs):
            found = hook(original, norm, x, residual, *args, **kwargs)
            if residual is not None:
                return found
            key = tuple(x.shape), x.dtype
            return kept.setdefault(key, found.clone()).copy_(found)

        HookRegistry._hooks[target] = [(kind, changed, source)]

    return dataclasses.replace(reference, register=(mutant,))
