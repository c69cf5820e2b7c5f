"""The token that reaches top_p is dropped."""

import dataclasses

import torch

NAME = "The token that reaches top_p is dropped"
KILLED_BY = "sampler.top-p-is-kept"


def make(reference):
    def mutant(logits, info):
        probs = torch.softmax(logits.float() / info.temperatures, -1)
        ordered, index = probs.sort(-1, descending=True)
        short = ordered.cumsum(-1) > info.top_ps[:, None]
        short[:, 0] = False
        ordered = ordered.masked_fill(short, 0)
        drawn = torch.multinomial(ordered, 1)
        return index.gather(1, drawn).view(-1).int()

    return dataclasses.replace(reference, sampler=mutant)
