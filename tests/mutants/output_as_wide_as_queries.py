"""The result is as wide as the queries although values are narrower."""

import dataclasses

import torch

NAME = "The result is as wide as the queries although values are narrower"
KILLED_BY = "attention-backend.result-has-contracted-shape"
RELEASES = ">=0.5.7"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_extend(q, k, v, layer, *args, **kwargs)
            missing = layer.qk_head_dim - layer.v_head_dim
            out = out.unflatten(1, (layer.tp_q_head_num, layer.v_head_dim))
            return torch.nn.functional.pad(out, (0, missing)).flatten(1)

    return dataclasses.replace(reference, make_backend=Mutant)
