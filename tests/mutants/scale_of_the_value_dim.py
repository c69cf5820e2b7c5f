"""The scale is worked out for the head dim of the values."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The scale is worked out for the head dim of the values"
KILLED_BY = "attention-backend.decode-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            off = layer.scaling * (layer.qk_head_dim / layer.v_head_dim) ** 0.5
            return super().forward_decode(q, k, v, Changed(layer, scaling=off), *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
