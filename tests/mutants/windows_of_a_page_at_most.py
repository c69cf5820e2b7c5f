"""A window is a page at most."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A window is a page at most"
KILLED_BY = "attention-backend.layers-keep-their-own-settings"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            if (layer.sliding_window_size or -1) > max(self.page_size, 20):
                layer = Changed(layer, sliding_window_size=self.page_size)
            return super().forward_decode(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
