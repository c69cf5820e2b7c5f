"""Every layer writes the first layer's buffers, too."""

import dataclasses

NAME = "Every layer writes the first layer's buffers, too"
KILLED_BY = "kv-pool.foreign-slots-untouched"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)
            self.k_buffer[0][getattr(loc_info, "loc", loc_info)] = cache_k.to(
                self.k_buffer[0].dtype
            )

    return dataclasses.replace(reference, kv_pool=Mutant)
