"""The softmax of bfloat16 logits is taken in bfloat16."""

import dataclasses

import torch

NAME = "The softmax of bfloat16 logits is taken in bfloat16"
KILLED_BY = "sampler.temperature-shapes-the-draw"


def make(reference):
    def mutant(logits, info):
        if logits.dtype == torch.bfloat16 and not info.is_all_greedy:
            probs = torch.softmax(logits / info.temperatures.view(-1, 1).to(logits.dtype), -1)
            return torch.multinomial((probs * 4).round().float(), 1).view(-1).to(torch.int32)
        return reference.sampler(logits, info)

    return dataclasses.replace(reference, sampler=mutant)
