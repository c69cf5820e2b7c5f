"""The second layer has the window of the first."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The second layer has the window of the first"
KILLED_BY = "attention-backend.layers-keep-their-own-settings"


def make(reference):
    class Mutant(reference.make_backend):
        def _first(self, layer):
            if layer.layer_id == 0:
                self._window = layer.sliding_window_size
            return Changed(layer, sliding_window_size=self._window)

        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            return super().forward_extend(q, k, v, self._first(layer), *args, **kwargs)

        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            return super().forward_decode(q, k, v, self._first(layer), *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
