"""The hook on the draw drops top_p, the declared sampler keeps it."""

import dataclasses

NAME = "The hook on the draw drops top_p, the declared sampler keeps it"
KILLED_BY = "hooks.sampling-keeps-its-parameters"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry

        for entry in reference.register:
            entry()
        target = "sglang.srt.layers.sampler.top_k_top_p_min_p_sampling_from_probs_torch"
        ((kind, hook, source),) = HookRegistry._hooks[target]

        def changed(original, probs, top_ks, top_ps, *args, **kwargs):
            return hook(original, probs, top_ks, top_ps.clamp(min=1.0), *args, **kwargs)

        HookRegistry._hooks[target] = [(kind, changed, source)]

    return dataclasses.replace(reference, register=(mutant,))
