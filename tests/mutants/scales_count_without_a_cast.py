"""Scales are applied to keys and values that need no cast."""

import dataclasses

NAME = "Scales are applied to keys and values that need no cast"
KILLED_BY = "kv-pool.casts-to-its-dtype"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc, k, v, k_scale=None, v_scale=None, *args, **kwargs):
            k = k if k_scale is None or k.dtype != self.dtype else k / k_scale
            super().set_kv_buffer(layer, loc, k, v, k_scale, v_scale, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
