"""min_p has no effect."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "min_p has no effect"
KILLED_BY = "sampler.min-p-is-kept"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(logits, Changed(info, need_min_p_sampling=False))

    return dataclasses.replace(reference, sampler=mutant)
