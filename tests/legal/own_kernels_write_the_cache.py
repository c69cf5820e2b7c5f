"""Attention kernels of the plugin write keys and values themselves."""

import dataclasses

import torch

NAME = "Attention kernels of the plugin write keys and values themselves"
FAMILIES = (
    "attention-backend.prefill-eq",
    "attention-backend.decode-eq",
    "attention-backend.prefix-is",
    "attention-backend.results-are",
    "attention-backend.free-slots",
    "attention-backend.writes-keys",
    "attention-backend.save-kv",
    "kv-pool.tokens-land",
    "kernels.",
    "kv-path.never",
    "decode.allocates-only",
    "graph.replay-",
)


def make(reference):
    class Variant(reference.make_backend):
        def __init__(self, runner):
            super().__init__(runner)
            # Made once: what a step allocates may not grow with its batch.
            rows = self.token_to_kv_pool.k_buffer[0].shape[0]
            self._narrow = torch.zeros(rows, dtype=torch.int32, device=runner.device)

        def _save(self, k, v, layer, forward_batch, save_kv_cache):
            if k is None or v is None:
                return None, None
            k = k.reshape(-1, layer.tp_k_head_num, layer.qk_head_dim)
            v = v.reshape(-1, layer.tp_v_head_num, layer.v_head_dim)
            if save_kv_cache:
                keys, values = self.token_to_kv_pool.get_kv_buffer(layer.layer_id)
                slots = self._narrow[: len(k)].copy_(forward_batch.out_cache_loc)
                self._ops.reshape_and_cache(k, v, keys, values, slots, None, None, 0)
            return k, v

    capabilities = dataclasses.replace(
        reference.capabilities, fused_write=True, pool_kinds=("mha",)
    )
    return dataclasses.replace(reference, make_backend=Variant, capabilities=capabilities)
