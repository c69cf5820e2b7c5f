"""Query heads take their key heads in turn, not by neighbours."""

import dataclasses

import torch

NAME = "Query heads take their key heads in turn, not by neighbours"
KILLED_BY = "attention-backend.key-heads-are-shared-by-neighbours"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            heads, kv_heads = layer.tp_q_head_num, layer.tp_k_head_num
            order = torch.arange(heads).view(heads // kv_heads, kv_heads).t().flatten().to(q.device)
            queries = q.view(-1, heads, layer.qk_head_dim)[:, order].reshape(q.shape)
            out = super().forward_extend(queries, k, v, layer, *args, **kwargs)
            back = torch.empty_like(order)
            back[order] = torch.arange(heads, device=q.device)
            return out.view(-1, heads, layer.v_head_dim)[:, back].reshape(out.shape)

    return dataclasses.replace(reference, make_backend=Mutant)
