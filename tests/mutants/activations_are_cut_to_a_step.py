"""Activations are cut to the next smaller step instead of rounded."""

import dataclasses

NAME = "Activations are cut to the next smaller step instead of rounded"
KILLED_BY = "weights.linear-equals-dequantised-product"


def make(reference):
    def mutant(x, weight, scales, bias):
        step = x.float().abs().amax(-1, keepdim=True).clamp(min=1e-30) / 127
        cut = (x.float() / step * (1 + 1e-6)).trunc() * step
        return reference.linear(cut.to(x.dtype), weight, scales, bias)

    return dataclasses.replace(reference, linear=mutant)
