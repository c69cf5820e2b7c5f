"""A batch of one row is always greedy."""

import dataclasses

import torch

NAME = "A batch of one row is always greedy"
KILLED_BY = "sampler.draws-are-fresh"


def make(reference):
    def mutant(logits, info):
        if logits.shape[0] == 1:
            return logits.argmax(-1).to(torch.int32)
        return reference.sampler(logits, info)

    return dataclasses.replace(reference, sampler=mutant)
