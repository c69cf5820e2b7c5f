"""Greedy rows beside sampled ones draw among tokens that are equally likely."""

import dataclasses

NAME = "Greedy rows beside sampled ones draw among tokens that are equally likely"
KILLED_BY = "sampler.temperature-zero-is-greedy"


def make(reference):
    def mutant(logits, info):
        import torch

        found = reference.sampler(logits, info)
        if info.is_all_greedy:
            return found
        tied = (logits >= logits.amax(-1, keepdim=True)).float()
        drawn = torch.multinomial(tied, 1).view(-1).to(found.dtype)
        return torch.where(info.top_ks == 1, drawn, found)

    return dataclasses.replace(reference, sampler=mutant)
