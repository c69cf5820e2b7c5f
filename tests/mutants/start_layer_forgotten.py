"""The pool's first layer is taken to be layer 0."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The pool's first layer is taken to be layer 0"
KILLED_BY = "kv-pool.pipeline-ranks-start-at-their-layer"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            index = layer.layer_id % self.layer_num + (self.start_layer or 0)
            shifted = Changed(layer, layer_id=index)
            super().set_kv_buffer(shifted, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
