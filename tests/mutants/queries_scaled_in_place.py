"""The queries are scaled in place."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The queries are scaled in place"
KILLED_BY = "attention-backend.inputs-are-left-alone"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            scaled = Changed(layer, scaling=1.0)
            return super().forward_extend(q.mul_(layer.scaling), k, v, scaled, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
