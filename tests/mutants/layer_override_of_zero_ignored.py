"""set_kv_buffer takes a layer_id_override of 0 for none."""

import dataclasses

NAME = "set_kv_buffer takes a layer_id_override of 0 for none"
KILLED_BY = "kv-pool.layer-override-is-obeyed"
RELEASES = ">=0.4.9"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            kwargs["layer_id_override"] = kwargs.get("layer_id_override") or None
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
