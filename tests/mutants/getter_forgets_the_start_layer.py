"""get_value_buffer counts layers from 0 in a pool that starts later."""

import dataclasses

NAME = "get_value_buffer counts layers from 0 in a pool that starts later"
KILLED_BY = "kv-pool.pipeline-ranks-start-at-their-layer"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_value_buffer(self, layer_id):
            return self.v_buffer[layer_id % self.layer_num]

    return dataclasses.replace(reference, kv_pool=Mutant)
