"""The highest byte is taken first."""

import dataclasses

NAME = "The highest byte is taken first"
KILLED_BY = "weights.packed-words-unpack-exactly"


def make(reference):
    def mutant(words):
        found = reference.unpack(words)
        return found.view(len(found), -1, 4).flip(-1).flatten(1)

    return dataclasses.replace(reference, unpack=mutant)
