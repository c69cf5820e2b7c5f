"""The sliding window shows one key more."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The sliding window shows one key more"
KILLED_BY = "attention-backend.window-is-kept"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            if layer.sliding_window_size is not None and layer.sliding_window_size >= 0:
                layer = Changed(layer, sliding_window_size=layer.sliding_window_size + 1)
            return super().forward_decode(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
