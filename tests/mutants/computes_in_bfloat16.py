"""Everything is computed in bfloat16."""

import dataclasses

NAME = "Everything is computed in bfloat16"
KILLED_BY = "attention-backend.prefill-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, *args, **kwargs):
            out = super().forward_extend(q.bfloat16().to(q.dtype), *args, **kwargs)
            return out.bfloat16().to(q.dtype)

    return dataclasses.replace(reference, make_backend=Mutant)
