"""The hooked RMSNorm gives the next layer the bare input, without the residual."""

import dataclasses

NAME = "The hooked RMSNorm gives the next layer the bare input, without the residual"
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
            out = hook(original, *args, **kwargs)
            return (out[0], args[1]) if isinstance(out, tuple) else out

        HookRegistry._hooks[target] = [(kind, changed, source)]

    return dataclasses.replace(reference, register=(mutant,))
