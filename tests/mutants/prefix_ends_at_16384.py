"""A prefill sees the last 16,384 cached tokens alone."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A prefill sees the last 16,384 cached tokens alone"
KILLED_BY = "attention-backend.forty-thousand-keys-are-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            if (layer.sliding_window_size or -1) < 0:
                layer = Changed(layer, sliding_window_size=16384)
            return super().forward_extend(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
