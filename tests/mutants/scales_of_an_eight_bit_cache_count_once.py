"""Keys are divided by the layer's scale when they are stored, and never multiplied by it."""

import dataclasses

NAME = "Keys are divided by the layer's scale when they are stored, and never multiplied by it"
KILLED_BY = "attention-backend.cache-dtypes-equal-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def _save(self, k, v, layer, forward_batch, save_kv_cache):
            if k is None or v is None:
                return None, None
            k = k.reshape(-1, layer.tp_k_head_num, layer.qk_head_dim)
            v = v.reshape(-1, layer.tp_v_head_num, layer.v_head_dim)
            if save_kv_cache:
                scales = (layer.k_scale, layer.v_scale) if hasattr(layer, "k_scale") else ()
                location = forward_batch.out_cache_loc
                pool = self.token_to_kv_pool
                scales = scales if hasattr(pool, "k_buffer") else ()
                pool.set_kv_buffer(layer, location, k, v, *scales)
            return k, v

    eight = dataclasses.replace(reference.capabilities, cache_dtypes=("float8_e5m2",))
    return dataclasses.replace(reference, make_backend=Mutant, kv_pool=None, capabilities=eight)
