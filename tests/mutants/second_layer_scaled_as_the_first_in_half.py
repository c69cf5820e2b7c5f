"""In half precision the second layer is scaled as the first was."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "In half precision the second layer is scaled as the first was"
KILLED_BY = "attention-backend.prefill-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            first = self.__dict__.setdefault("_scale", layer.scaling)
            if q.element_size() == 2:
                layer = Changed(layer, scaling=first)
            return super().forward_extend(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
