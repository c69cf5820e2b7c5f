"""Values are divided by the keys' scale where they have none of their own."""

import dataclasses

NAME = "Values are divided by the keys' scale where they have none of their own"
KILLED_BY = "kv-pool.casts-to-its-dtype"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(
            self,
            layer,
            loc_info,
            cache_k,
            cache_v,
            k_scale=None,
            v_scale=None,
            *rest,
            **more,
        ):
            v_scale = k_scale if v_scale is None else v_scale
            super().set_kv_buffer(
                layer, loc_info, cache_k, cache_v, k_scale, v_scale, *rest, **more
            )

    return dataclasses.replace(reference, kv_pool=Mutant)
