"""Two neighbouring rows are drawn with one random number."""

import dataclasses

import torch

NAME = "Two neighbouring rows are drawn with one random number"
KILLED_BY = "sampler.draws-are-fresh"


def make(reference):
    def mutant(logits, info):
        found = reference.sampler(logits, info)
        same = (logits[1::2] == logits[0::2][: len(logits[1::2])]).all(-1)
        found[1::2] = torch.where(same, found[0::2][: len(found[1::2])], found[1::2])
        return found

    return dataclasses.replace(reference, sampler=mutant)
