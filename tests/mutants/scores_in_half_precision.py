"""Scores beyond 65504 become infinite before they are scaled."""

import dataclasses

NAME = "Scores beyond 65504 become infinite before they are scaled"
KILLED_BY = "attention-backend.large-scores-stay-finite"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_decode(q, k, v, layer, *args, **kwargs)
            if k is None:
                return out
            heads, groups = layer.tp_q_head_num, layer.tp_q_head_num // layer.tp_k_head_num
            queries = q.view(-1, heads, layer.qk_head_dim).float()
            keys = k.view(-1, layer.tp_k_head_num, layer.qk_head_dim).float()
            scores = (queries * keys.repeat_interleave(groups, 1)).sum(-1).half()
            lost = scores.isinf().repeat_interleave(layer.v_head_dim, 1)
            return out.masked_fill(lost, float("nan"))

    return dataclasses.replace(reference, make_backend=Mutant)
