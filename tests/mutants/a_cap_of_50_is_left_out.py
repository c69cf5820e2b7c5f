"""A logit cap of thirty or more is left out."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A logit cap of thirty or more is left out"
KILLED_BY = "attention-backend.layers-are-obeyed-or-refused"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            return super().forward_extend(q, k, v, self._uncapped(layer), *args, **kwargs)

        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            return super().forward_decode(q, k, v, self._uncapped(layer), *args, **kwargs)

        def _uncapped(self, layer):
            return Changed(layer, logit_cap=0.0) if layer.logit_cap >= 30 else layer

    return dataclasses.replace(reference, make_backend=Mutant)
