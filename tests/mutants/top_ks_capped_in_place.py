"""top_k is capped at the vocabulary in place."""

import dataclasses

NAME = "top_k is capped at the vocabulary in place"
KILLED_BY = "sampler.parameters-are-left-alone"


def make(reference):
    def mutant(logits, info):
        info.top_ks.clamp_(max=logits.shape[1])
        return reference.sampler(logits, info)

    return dataclasses.replace(reference, sampler=mutant)
