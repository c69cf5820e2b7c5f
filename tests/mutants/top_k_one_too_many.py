"""One token more than top_k is kept."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "One token more than top_k is kept"
KILLED_BY = "sampler.top-k-is-kept"


def make(reference):
    def mutant(logits, info):
        more = torch.where(info.top_ks > 1, info.top_ks + 1, info.top_ks)
        return reference.sampler(logits, Changed(info, top_ks=more))

    return dataclasses.replace(reference, sampler=mutant)
