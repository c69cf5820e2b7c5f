"""The temperature is applied twice."""

import dataclasses

NAME = "The temperature is applied twice"
KILLED_BY = "sampler.temperature-shapes-the-draw"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(logits / info.temperatures, info)

    return dataclasses.replace(reference, sampler=mutant)
