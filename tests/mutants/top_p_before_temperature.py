"""top_p is taken before the temperature."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "top_p is taken before the temperature"
KILLED_BY = "sampler.top-p-is-kept"


def make(reference):
    def mutant(logits, info):
        probs, order = torch.softmax(logits.float(), -1).sort(-1, descending=True)
        beyond = probs.cumsum(-1) - probs > info.top_ps[:, None]
        dropped = torch.zeros_like(beyond).scatter(-1, order, beyond)
        rest = Changed(info, top_ps=torch.ones_like(info.top_ps))
        return reference.sampler(logits.masked_fill(dropped, float("-inf")), rest)

    return dataclasses.replace(reference, sampler=mutant)
