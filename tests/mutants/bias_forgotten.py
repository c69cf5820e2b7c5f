"""The bias is forgotten."""

import dataclasses

NAME = "The bias is forgotten"
KILLED_BY = "weights.linear-equals-dequantised-product"


def make(reference):
    def mutant(x, weight, scales, bias=None):
        return reference.linear(x, weight, scales, None)

    return dataclasses.replace(reference, linear=mutant)
