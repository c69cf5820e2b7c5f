"""A query also sees the key after its own."""

import dataclasses

import torch

NAME = "A query also sees the key after its own"
KILLED_BY = "attention-backend.prefill-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, *args, **kwargs):
            out = super().forward_extend(q, k, v, layer, forward_batch, *args, **kwargs)
            counts = forward_batch.extend_seq_lens_cpu
            prefixes = forward_batch.extend_prefix_lens_cpu
            end = 0
            for count, prefix in zip(counts, prefixes, strict=True):
                start, end = end, end + count
                if prefix or k is None or count < 2:
                    continue
                queries = q[start:end].view(count, layer.tp_q_head_num, -1).transpose(0, 1)
                keys = k[start:end].view(count, layer.tp_k_head_num, -1).transpose(0, 1)
                values = v[start:end].view(count, layer.tp_v_head_num, -1).transpose(0, 1)
                seen = torch.ones(count, count, dtype=torch.bool, device=q.device).tril(1)
                mine = torch.nn.functional.scaled_dot_product_attention(
                    queries[None].float(),
                    keys[None].float(),
                    values[None].float(),
                    attn_mask=seen,
                    scale=layer.scaling,
                    enable_gqa=True,
                )
                out[start:end] = mine[0].transpose(0, 1).flatten(1).to(out.dtype)
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
