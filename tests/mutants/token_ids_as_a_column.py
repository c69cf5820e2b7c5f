"""Token ids come as a column."""

import dataclasses

NAME = "Token ids come as a column"
KILLED_BY = "sampler.gives-a-token-id-a-row"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(logits, info)[:, None]

    return dataclasses.replace(reference, sampler=mutant)
