"""Token ids come as floating point."""

import dataclasses

NAME = "Token ids come as floating point"
KILLED_BY = "sampler.gives-a-token-id-a-row"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(logits, info).float()

    return dataclasses.replace(reference, sampler=mutant)
