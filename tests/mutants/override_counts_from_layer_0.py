"""layer_id_override counts from layer 0 in a pool that starts later."""

import dataclasses

NAME = "layer_id_override counts from layer 0 in a pool that starts later"
KILLED_BY = "kv-pool.pipeline-ranks-start-at-their-layer"
RELEASES = ">=0.5.3"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, *args, layer_id_override=None, **kwargs):
            if layer_id_override is not None:
                layer_id_override = min(layer_id_override + self.start_layer, self.start_layer + 1)
            super().set_kv_buffer(*args, layer_id_override=layer_id_override, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
