"""top_p is taken from what top_k left, renormalised."""

import dataclasses

import torch

NAME = "top_p is taken from what top_k left, renormalised"
KILLED_BY = "sampler.top-k-and-top-p-are-joint"


def make(reference):
    def mutant(logits, info):
        probs = torch.softmax(logits.float() / info.temperatures, -1)
        ordered, index = probs.sort(-1, descending=True)
        rank = torch.arange(probs.shape[1])[None]
        ordered = ordered.masked_fill(rank >= info.top_ks[:, None], 0)
        ordered = ordered / ordered.sum(-1, keepdim=True)
        ordered = ordered.masked_fill(ordered.cumsum(-1) - ordered > info.top_ps[:, None], 0)
        return index.gather(1, torch.multinomial(ordered, 1)).view(-1).int()

    return dataclasses.replace(reference, sampler=mutant)
