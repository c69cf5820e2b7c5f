"""A backend as an accelerator's plugin has it: no annotations, the pool read off the batch."""

from sglang.srt.layers.attention.base_attn_backend import AttentionBackend


class KunlunLikeBackend(AttentionBackend):
    def __init__(self, model_runner):
        super().__init__()
        self.device = model_runner.device
        self.page_size = model_runner.page_size

    def init_forward_metadata(self, forward_batch):
        self.seq_lens = forward_batch.seq_lens

    def forward_extend(self, q, k, v, layer, forward_batch, save_kv_cache=True):
        if save_kv_cache:
            forward_batch.token_to_kv_pool.set_kv_buffer(layer, forward_batch.out_cache_loc, k, v)
        keys = forward_batch.token_to_kv_pool.get_key_buffer(layer.layer_id)
        values = forward_batch.token_to_kv_pool.get_value_buffer(layer.layer_id)
        if layer.is_cross_attention:
            keys = forward_batch.token_to_kv_pool.get_key_buffer(layer.layer_id + 1)
        pool = forward_batch.token_to_kv_pool
        return self.attend(q, keys, values, pool)

    def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True):
        if save_kv_cache:
            forward_batch.token_to_kv_pool.set_kv_buffer(layer, forward_batch.out_cache_loc, k, v)
        keys, values = forward_batch.token_to_kv_pool.get_kv_buffer(layer.layer_id)
        kind = forward_batch.token_to_kv_pool.dtype
        size = forward_batch.token_to_kv_pool.page_size
        return self.attend(q, keys, values, (kind, size, forward_batch.token_to_kv_pool.device))

    def attend(self, q, keys, values, more):
        return q, keys, values, more
