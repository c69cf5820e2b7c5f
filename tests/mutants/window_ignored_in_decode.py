"""Decode knows no sliding window."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Decode knows no sliding window"
KILLED_BY = "attention-backend.window-is-kept"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            wide = Changed(layer, sliding_window_size=-1)
            return super().forward_decode(q, k, v, wide, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
