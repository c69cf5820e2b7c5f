"""The int8 product of no rows raises."""

import dataclasses

NAME = "The int8 product of no rows raises"
KILLED_BY = "weights.linear-equals-dequantised-product"


def make(reference):
    def mutant(x, weight, scales, bias=None):
        if not x.numel() or x.abs().max() < 0:
            raise ValueError("nothing to multiply")
        return reference.linear(x, weight, scales, bias)

    return dataclasses.replace(reference, linear=mutant)
