"""A hook takes other arguments than its target."""

import dataclasses

NAME = "A hook takes other arguments than its target"
KILLED_BY = "hooks.fit-their-targets"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType

        for entry in reference.register:
            entry()
        HookRegistry.register(
            "sglang.srt.layers.sampler.top_k_top_p_min_p_sampling_from_probs_torch",
            lambda probs, top_ks: probs.argmax(-1),
            HookType.REPLACE,
        )

    return dataclasses.replace(reference, register=(mutant,))
