"""Keys and values are written a second time after the kernel."""

import dataclasses

NAME = "Keys and values are written a second time after the kernel"
KILLED_BY = "attention-backend.writes-keys-once-a-layer"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True, **kwargs):
            out = super().forward_decode(q, k, v, layer, forward_batch, save_kv_cache, **kwargs)
            if save_kv_cache and k is not None:
                self.token_to_kv_pool.set_kv_buffer(
                    layer,
                    forward_batch.out_cache_loc,
                    k.view(-1, layer.tp_k_head_num, layer.qk_head_dim),
                    v.view(-1, layer.tp_v_head_num, layer.v_head_dim),
                )
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
