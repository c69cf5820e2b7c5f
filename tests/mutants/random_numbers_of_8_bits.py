"""Random numbers are drawn in bfloat16."""

import dataclasses

import torch

NAME = "Random numbers are drawn in bfloat16"
KILLED_BY = "sampler.draws-are-fresh"


def make(reference):
    def mutant(logits, info):
        greedy = reference.sampler(logits, info)
        plain = not info.need_top_p_sampling and (info.top_ks > logits.shape[1]).all()
        if not plain or info.need_min_p_sampling or info.is_all_greedy:
            return greedy
        chances = torch.softmax(logits.float() / info.temperatures, -1).cumsum(-1)
        dice = torch.rand(len(logits), 1).bfloat16().float()
        return (chances < dice).sum(-1).clamp(max=logits.shape[1] - 1).to(greedy.dtype)

    return dataclasses.replace(reference, sampler=mutant)
