"""A layer's logit cap is ignored."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A layer's logit cap is ignored"
KILLED_BY = "attention-backend.layers-are-obeyed-or-refused"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            return super().forward_extend(q, k, v, Changed(layer, logit_cap=0.0), *args, **kwargs)

        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            return super().forward_decode(q, k, v, Changed(layer, logit_cap=0.0), *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
