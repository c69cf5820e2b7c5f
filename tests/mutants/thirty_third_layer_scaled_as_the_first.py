"""Layers from the thirty-third on have no scale of their own."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Layers from the thirty-third on have no scale of their own"
KILLED_BY = "attention-backend.later-pipeline-ranks-are-served"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            if layer.layer_id >= 32:
                layer = Changed(layer, scaling=0.25)
            return super().forward_decode(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
