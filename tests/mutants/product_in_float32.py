"""The int8 product gives float32 for bfloat16 activations."""

import dataclasses

NAME = "The int8 product gives float32 for bfloat16 activations"
KILLED_BY = "weights.linear-equals-dequantised-product"


def make(reference):
    def mutant(x, weight, scales, bias=None):
        return reference.linear(x.float(), weight, scales, bias)

    return dataclasses.replace(reference, linear=mutant)
