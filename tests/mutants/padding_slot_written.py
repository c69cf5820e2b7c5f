"""Slot 0 is written with every batch."""

import dataclasses

NAME = "Slot 0 is written with every batch"
KILLED_BY = "kv-pool.foreign-slots-untouched"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)
            self.k_buffer[layer.layer_id][0] = 0

    return dataclasses.replace(reference, kv_pool=Mutant)
