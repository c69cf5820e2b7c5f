"""The layer's scale is not used: one over the root of the head dim is."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The layer's scale is not used: one over the root of the head dim is"
KILLED_BY = "attention-backend.prefill-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            usual = Changed(layer, scaling=layer.qk_head_dim**-0.5)
            return super().forward_extend(q, k, v, usual, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
