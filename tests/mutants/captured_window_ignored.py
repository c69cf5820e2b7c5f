"""A captured decode knows no sliding window."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A captured decode knows no sliding window"
KILLED_BY = "graph.window-is-kept"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            if any(self.forward_metadata is each for each in self._graph_views.values()):
                layer = Changed(layer, sliding_window_size=-1)
            return super().forward_decode(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
