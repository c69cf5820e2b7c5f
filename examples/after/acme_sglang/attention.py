"""The attention backend, mended: one code base for SGLang 0.5.12 and all that came after."""

import torch
from sglang.srt.layers.attention.base_attn_backend import AttentionBackend

from acme_sglang.releases import build_kv_indices, tensor_parallel_size


class AcmeAttention(AttentionBackend):
    """Keeps the pools of its model runner: the batch carries none since 0.5.13."""

    def __init__(self, model_runner):
        super().__init__()
        self.token_to_kv_pool = model_runner.token_to_kv_pool
        self.req_to_token_pool = model_runner.req_to_token_pool
        self.tp_size = tensor_parallel_size(model_runner)
        self.build_indices = build_kv_indices
        self.lengths = None

    def init_forward_metadata(self, forward_batch):
        self.lengths = forward_batch.seq_lens

    # Before 0.5.13 ...
    def init_forward_metadata_capture_cuda_graph(
        self, bs, num_tokens, req_pool_indices, seq_lens, encoder_lens, forward_mode, spec_info
    ):
        self.lengths = seq_lens[:bs]

    # ... and from there on.
    def init_forward_metadata_out_graph(self, forward_batch, in_capture=False):
        self.lengths = forward_batch.seq_lens

    def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True, **kwargs):
        pool = self.token_to_kv_pool
        if save_kv_cache:
            pool.set_kv_buffer(layer, forward_batch.out_cache_loc, k, v)
        return torch.ops.acme.decode(q, pool.get_key_buffer(layer.layer_id), self.lengths)
