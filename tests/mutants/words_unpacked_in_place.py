"""Words are shifted in place while they are unpacked."""

import dataclasses

NAME = "Words are shifted in place while they are unpacked"
KILLED_BY = "weights.packed-words-unpack-exactly"


def make(reference):
    def mutant(words):
        found = reference.unpack(words)
        words.bitwise_right_shift_(24)
        return found

    return dataclasses.replace(reference, unpack=mutant)
