"""A cross-attention layer is computed as self-attention."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A cross-attention layer is computed as self-attention"
KILLED_BY = "attention-backend.layers-are-obeyed-or-refused"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            plain = Changed(layer, is_cross_attention=False)
            return super().forward_extend(q, k, v, plain, *args, **kwargs)

        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            plain = Changed(layer, is_cross_attention=False)
            return super().forward_decode(q, k, v, plain, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
