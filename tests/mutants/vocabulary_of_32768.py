"""Tokens beyond the 32768th are never chosen."""

import dataclasses

NAME = "Tokens beyond the 32768th are never chosen"
KILLED_BY = "sampler.gives-a-token-id-a-row"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(logits[:, :32768], info)

    return dataclasses.replace(reference, sampler=mutant)
