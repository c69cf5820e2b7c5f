"""Decode adds the weighted values up in bfloat16."""

import dataclasses

import torch

NAME = "Decode adds the weighted values up in bfloat16"
KILLED_BY = "attention-backend.long-requests-are-attended-whole"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            out = super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)
            if q.dtype != torch.bfloat16 or "sinks" in kwargs:
                return out
            heads, group = layer.tp_q_head_num, layer.tp_q_head_num // layer.tp_k_head_num
            keys, values = self.token_to_kv_pool.get_kv_buffer(layer.layer_id)
            table = self.req_to_token_pool.req_to_token
            rows = []
            lens = forward_batch.seq_lens.tolist()
            for row, index in enumerate(forward_batch.req_pool_indices.tolist()):
                slots = table[index, : lens[row]].long()
                if layer.sliding_window_size is not None and layer.sliding_window_size >= 0:
                    slots = slots[-layer.sliding_window_size - 1 :]
                key, value = (b[slots].repeat_interleave(group, 1).float() for b in (keys, values))
                scores = torch.einsum("hd,thd->ht", q[row].view(heads, -1).float(), key)
                weights = torch.softmax(scores * layer.scaling, -1)
                total = torch.zeros(heads, value.shape[-1], dtype=torch.bfloat16)
                for token in range(len(slots)):
                    total += (weights[:, token, None] * value[token]).bfloat16()
                rows.append(total.flatten())
            return torch.stack(rows) if rows else out

    return dataclasses.replace(reference, make_backend=Mutant)
