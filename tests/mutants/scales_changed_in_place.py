"""The product multiplies the prepared scales in place."""

import dataclasses

NAME = "The product multiplies the prepared scales in place"
KILLED_BY = "weights.linear-equals-dequantised-product"


def make(reference):
    def mutant(x, weight, scales, bias=None):
        found = reference.linear(x, weight, scales, bias)
        scales.mul_(2.0)
        return found

    return dataclasses.replace(reference, linear=mutant)
