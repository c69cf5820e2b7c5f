"""The first row's parameters are used for all."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The first row's parameters are used for all"
KILLED_BY = "sampler.rows-have-their-own-parameters"


def make(reference):
    def mutant(logits, info):
        first = Changed(
            info,
            temperatures=info.temperatures[:1].expand_as(info.temperatures),
            top_ps=info.top_ps[:1].expand_as(info.top_ps),
            top_ks=info.top_ks[:1].expand_as(info.top_ks),
        )
        return reference.sampler(logits, first)

    return dataclasses.replace(reference, sampler=mutant)
