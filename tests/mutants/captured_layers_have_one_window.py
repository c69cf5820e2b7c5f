"""Captured layers have the window of the first that was captured."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Captured layers have the window of the first that was captured"
KILLED_BY = "graph.layers-keep-their-own-settings"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            if any(self.forward_metadata is each for each in self._graph_views.values()):
                kept = self.__dict__.setdefault("_window", layer.sliding_window_size)
                layer = Changed(layer, sliding_window_size=kept)
            return super().forward_decode(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
