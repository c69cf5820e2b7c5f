"""The bytes are unpacked without their sign."""

import dataclasses

import torch

NAME = "The bytes are unpacked without their sign"
KILLED_BY = "weights.packed-words-unpack-exactly"


def make(reference):
    def mutant(words):
        return (reference.unpack(words).int() & 0x7F).to(torch.int8)

    return dataclasses.replace(reference, unpack=mutant)
