"""The temperature is not applied."""

import dataclasses

NAME = "The temperature is not applied"
KILLED_BY = "sampler.temperature-shapes-the-draw"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(logits * info.temperatures, info)

    return dataclasses.replace(reference, sampler=mutant)
