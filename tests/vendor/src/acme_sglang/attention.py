"""Attention in plain torch, one request after the other: right, and nothing more."""

import torch
from sglang.srt.layers.attention.base_attn_backend import AttentionBackend


def refuse_what_is_not_served(layer, more):
    """A wrong answer costs more than none."""
    asked = {
        "a logit cap": layer.logit_cap,
        "cross attention": layer.is_cross_attention,
        "a sliding window": (layer.sliding_window_size or -1) >= 0,
        "attention both ways": getattr(layer.attn_type, "value", "decoder") != "decoder",
        ", ".join(more): any(value is not None for value in more.values()),
    }
    for name, wanted in asked.items():
        if wanted:
            raise NotImplementedError(f"acme does not serve {name}")


class AcmeAttention(AttentionBackend):
    """Multi-head attention without grouped heads, windows or graphs."""

    def __init__(self, runner):
        super().__init__()
        self.token_to_kv_pool = runner.token_to_kv_pool
        if not hasattr(self.token_to_kv_pool, "k_buffer"):
            raise NotImplementedError("acme attends to keys and values of heads, not latent ones")
        self.req_to_token_pool = runner.req_to_token_pool
        self.spans = []

    def init_forward_metadata(self, forward_batch):
        lens = forward_batch.seq_lens.tolist()
        if forward_batch.forward_mode.is_decode():
            new = [1] * len(lens)
        else:
            new = forward_batch.extend_seq_lens.tolist()
        rows = forward_batch.req_pool_indices.tolist()
        self.spans = list(zip(rows, lens, new, strict=True))

    def forward_extend(self, q, k, v, layer, forward_batch, save_kv_cache=True, **kwargs):
        refuse_what_is_not_served(layer, kwargs)
        heads, dim = layer.tp_q_head_num, layer.head_dim
        if save_kv_cache:
            self.token_to_kv_pool.set_kv_buffer(
                layer,
                forward_batch.out_cache_loc,
                k.view(-1, heads, dim),
                v.view(-1, heads, dim),
            )
        keys, values = self.token_to_kv_pool.get_kv_buffer(layer.layer_id)
        page_size, outs, start = self.token_to_kv_pool.page_size, [], 0
        for row, length, count in self.spans:
            slots = self.req_to_token_pool.req_to_token[row, :length].long()
            page, offset = slots // page_size, slots % page_size
            mine = q[start : start + count].view(count, heads, dim).transpose(0, 1)
            scores = mine.float() @ keys[page, :, offset].permute(1, 2, 0).float() * layer.scaling
            seen = torch.ones(count, length, dtype=torch.bool).tril(length - count)
            weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
            out = weights @ values[page, :, offset].transpose(0, 1).float()
            outs.append(out.transpose(0, 1).reshape(count, heads * dim).to(q.dtype))
            start += count
        return torch.cat(outs) if outs else q.new_empty(0, heads * dim)

    def forward_decode(self, *args, **kwargs):
        return self.forward_extend(*args, **kwargs)
