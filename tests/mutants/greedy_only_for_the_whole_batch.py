"""Greedy rows are greedy only if all are."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Greedy rows are greedy only if all are"
KILLED_BY = "sampler.temperature-zero-is-greedy"


def make(reference):
    def mutant(logits, info):
        if info.is_all_greedy:
            return logits.argmax(-1).int()
        return reference.sampler(logits, Changed(info, top_ks=info.top_ks.clamp(min=50)))

    return dataclasses.replace(reference, sampler=mutant)
