"""A captured decode in bfloat16 leaves the scale out."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "A captured decode in bfloat16 leaves the scale out"
KILLED_BY = "graph.replay-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            captured = self.forward_metadata in self._graph_views.values() if self._graph else False
            if captured and q.dtype == torch.bfloat16:
                layer = Changed(layer, scaling=1.0)
            return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
