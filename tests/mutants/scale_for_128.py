"""Scales are prepared for 128 steps, not 127."""

import dataclasses

NAME = "Scales are prepared for 128 steps, not 127"
KILLED_BY = "weights.linear-equals-dequantised-product"


def make(reference):
    def mutant(scale):
        return reference.scales(scale) * (128 / 127)

    return dataclasses.replace(reference, scales=mutant)
