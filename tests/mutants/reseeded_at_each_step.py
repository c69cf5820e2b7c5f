"""The generator is seeded anew at each step."""

import dataclasses

import torch

NAME = "The generator is seeded anew at each step"
KILLED_BY = "sampler.draws-are-fresh"


def make(reference):
    def mutant(logits, info):
        torch.manual_seed(17)
        return reference.sampler(logits, info)

    return dataclasses.replace(reference, sampler=mutant)
