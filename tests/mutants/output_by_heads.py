"""The result keeps its head axis."""

import dataclasses

NAME = "The result keeps its head axis"
KILLED_BY = "attention-backend.result-has-contracted-shape"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_decode(q, k, v, layer, *args, **kwargs)
            return out.unflatten(1, (layer.tp_q_head_num, layer.v_head_dim))

    return dataclasses.replace(reference, make_backend=Mutant)
