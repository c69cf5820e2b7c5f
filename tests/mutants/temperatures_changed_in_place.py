"""Temperatures are clamped in place for the steps to come."""

import dataclasses

NAME = "Temperatures are clamped in place for the steps to come"
KILLED_BY = "sampler.parameters-are-left-alone"


def make(reference):
    def mutant(logits, info):
        found = reference.sampler(logits, info)
        info.temperatures.clamp_(min=1.0)
        return found

    return dataclasses.replace(reference, sampler=mutant)
