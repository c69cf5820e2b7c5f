"""The hook on the draw ignores the seed of a request."""

import dataclasses

NAME = "The hook on the draw ignores the seed of a request"
KILLED_BY = "hooks.sampling-keeps-its-parameters"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry

        for entry in reference.register:
            entry()
        target = "sglang.srt.layers.sampler.top_k_top_p_min_p_sampling_from_probs_torch"
        ((kind, hook, source),) = HookRegistry._hooks[target]

        def changed(original, probs, ks, ps, mins, need, sampling_seed, positions, **kwargs):
            return hook(original, probs, ks, ps, mins, need, None, positions, **kwargs)

        HookRegistry._hooks[target] = [(kind, changed, source)]

    return dataclasses.replace(reference, register=(mutant,))
