"""The attention backend: metadata on the host, operators for the rest."""

import torch
from sglang.srt.layers.attention.base_attn_backend import AttentionBackend


class BorealisAttention(AttentionBackend):
    """Causal attention over SGLang's own pool."""

    def __init__(self, runner):
        super().__init__()
        self.token_to_kv_pool = runner.token_to_kv_pool
        self.req_to_token_pool = runner.req_to_token_pool

    def get_cuda_graph_seq_len_fill_value(self):
        return 1

    def init_forward_metadata(self, forward_batch):
        lens = forward_batch.seq_lens.cpu()
        new = torch.ones_like(lens)
        if not forward_batch.forward_mode.is_decode_or_idle():
            new = forward_batch.extend_seq_lens.cpu()
        table = self.req_to_token_pool.req_to_token
        rows = forward_batch.req_pool_indices.tolist()
        slots = [table[row, :length] for row, length in zip(rows, lens.tolist(), strict=True)]
        self.slots = torch.cat(slots).long() if slots else table.new_zeros(0).long()
        self.lens, self.new = lens, new

    def _refuse(self, layer, more):
        given = [name for name, value in more.items() if value is not None]
        window = (layer.sliding_window_size or -1) >= 0
        kind = getattr(layer.attn_type, "value", "decoder")
        if given or window or layer.logit_cap or layer.is_cross_attention or kind != "decoder":
            raise NotImplementedError("borealis serves plain causal attention")

    def _run(self, operator, q, k, v, layer, batch, save, more):
        self._refuse(layer, more)
        heads, dim = layer.tp_q_head_num, layer.qk_head_dim
        if save and k is not None:
            kv = layer.tp_k_head_num
            pool = self.token_to_kv_pool
            keys, values = k.reshape(-1, kv, dim), v.reshape(-1, kv, layer.v_head_dim)
            pool.set_kv_buffer(layer, batch.out_cache_loc, keys, values)
        keys, values = self.token_to_kv_pool.get_kv_buffer(layer.layer_id)
        q = q.reshape(-1, heads, dim)
        return operator(q, keys, values, self.slots, self.lens, self.new, layer.scaling).flatten(1)

    def forward_extend(self, q, k, v, layer, forward_batch, save_kv_cache=True, **more):
        run = torch.ops.borealis.attention_extend
        return self._run(run, q, k, v, layer, forward_batch, save_kv_cache, more)

    def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True, **more):
        run = torch.ops.borealis.attention_decode
        return self._run(run, q, k, v, layer, forward_batch, save_kv_cache, more)
