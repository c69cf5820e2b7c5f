"""Decode does not use the layer's scale."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Decode does not use the layer's scale"
KILLED_BY = "attention-backend.decode-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            usual = Changed(layer, scaling=layer.qk_head_dim**-0.5)
            return super().forward_decode(q, k, v, usual, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
