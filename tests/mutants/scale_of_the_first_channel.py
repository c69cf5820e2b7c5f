"""One scale is used for every channel."""

import dataclasses

NAME = "One scale is used for every channel"
KILLED_BY = "weights.linear-equals-dequantised-product"


def make(reference):
    def mutant(scale):
        return reference.scales(scale[:1].expand_as(scale))

    return dataclasses.replace(reference, scales=mutant)
