"""The softmax does not subtract the largest score."""

import dataclasses

import torch

NAME = "The softmax does not subtract the largest score"
KILLED_BY = "attention-backend.large-scores-stay-finite"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_extend(q, k, v, layer, *args, **kwargs)
            rows = q.view(-1, layer.tp_q_head_num, layer.qk_head_dim).float()
            largest = (rows * rows).sum(-1) * layer.scaling
            lost = torch.exp(largest).isinf().repeat_interleave(layer.v_head_dim, 1)
            return out.masked_fill(lost, float("nan"))

    return dataclasses.replace(reference, make_backend=Mutant)
