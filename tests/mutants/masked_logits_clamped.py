"""Logits are clamped before the softmax, masked ones too."""

import dataclasses

NAME = "Logits are clamped before the softmax, masked ones too"
KILLED_BY = "sampler.masked-tokens-are-never-drawn"


def make(reference):
    def mutant(logits, info):
        return reference.sampler(logits.clamp(min=-5.0), info)

    return dataclasses.replace(reference, sampler=mutant)
