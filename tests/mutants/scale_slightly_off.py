"""The scale is rounded to a power of two."""

import dataclasses
import math

from sglang_contracts.suite.mutants import Changed

NAME = "The scale is rounded to a power of two"
KILLED_BY = "attention-backend.prefill-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            rounded = Changed(layer, scaling=2.0 ** round(math.log2(layer.scaling)))
            return super().forward_extend(q, k, v, rounded, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
