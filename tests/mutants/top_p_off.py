"""top_p has no effect."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "top_p has no effect"
KILLED_BY = "sampler.top-p-is-kept"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(logits, Changed(info, top_ps=torch.ones_like(info.top_ps)))

    return dataclasses.replace(reference, sampler=mutant)
