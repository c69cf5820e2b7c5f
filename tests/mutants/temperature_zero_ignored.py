"""Rows at temperature 0 are sampled."""

import dataclasses

import torch

NAME = "Rows at temperature 0 are sampled"
KILLED_BY = "sampler.temperature-zero-is-greedy"


def make(reference):
    def mutant(logits, info):
        probs = torch.softmax(logits / info.temperatures.clamp(min=1e-6), -1)
        return torch.multinomial(probs, 1).view(-1).int()

    return dataclasses.replace(reference, sampler=mutant)
