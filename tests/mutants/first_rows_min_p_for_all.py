"""The first row's min_p is used for all."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The first row's min_p is used for all"
KILLED_BY = "sampler.rows-have-their-own-parameters"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(
            logits, Changed(info, min_ps=info.min_ps[:1].expand_as(info.min_ps))
        )

    return dataclasses.replace(reference, sampler=mutant)
