"""The attention backend, as it was written for SGLang 0.5.12."""

import torch
from sglang.srt.layers.attention.base_attn_backend import AttentionBackend
from sglang.srt.layers.attention.utils import create_flashinfer_kv_indices_triton


class AcmeAttention(AttentionBackend):
    """Reads the KV cache through the pool that the batch carries."""

    def __init__(self, model_runner):
        super().__init__()
        self.tp_size = model_runner.tp_size
        self.build_indices = create_flashinfer_kv_indices_triton
        self.lengths = None

    def init_forward_metadata(self, forward_batch):
        self.lengths = forward_batch.seq_lens

    def init_forward_metadata_capture_cuda_graph(
        self, bs, num_tokens, req_pool_indices, seq_lens, encoder_lens, forward_mode, spec_info
    ):
        self.lengths = seq_lens[:bs]

    def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True):
        pool = forward_batch.token_to_kv_pool
        if save_kv_cache:
            pool.set_kv_buffer(layer, forward_batch.out_cache_loc, k, v)
        return torch.ops.acme.decode(q, pool.get_key_buffer(layer.layer_id), self.lengths)
