"""The logits are divided in place."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The logits are divided in place"
KILLED_BY = "sampler.logits-are-left-alone"


def make(reference):
    def mutant(logits, info):
        logits.div_(info.temperatures)
        return reference.sampler(logits, Changed(info, temperatures=info.temperatures * 0 + 1))

    return dataclasses.replace(reference, sampler=mutant)
