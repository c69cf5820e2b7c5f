"""Keys are written although save_kv_cache is False."""

import dataclasses

NAME = "Keys are written although save_kv_cache is False"
KILLED_BY = "attention-backend.save-kv-cache-is-obeyed"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, save_kv_cache=True, **kwargs):
            return super().forward_extend(q, k, v, layer, forward_batch, True, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
