"""Decode shows the window's first page whole."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Decode shows the window's first page whole"
KILLED_BY = "attention-backend.window-is-kept"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            window = layer.sliding_window_size
            if window is not None and window > 0 and self.page_size > 1:
                pages = -(-window // self.page_size)
                layer = Changed(layer, sliding_window_size=pages * self.page_size)
            return super().forward_decode(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
