"""min_p is taken before the temperature."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "min_p is taken before the temperature"
KILLED_BY = "sampler.min-p-is-kept"


def make(reference):
    def mutant(logits, info):
        if not info.need_min_p_sampling:
            return reference.sampler(logits, info)
        cold = torch.softmax(logits.float(), -1)
        below = cold < info.min_ps[:, None] * cold.amax(-1, keepdim=True)
        rest = Changed(info, need_min_p_sampling=False)
        return reference.sampler(logits.masked_fill(below, float("-inf")), rest)

    return dataclasses.replace(reference, sampler=mutant)
