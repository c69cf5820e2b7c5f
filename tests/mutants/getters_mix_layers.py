"""get_value_buffer gives the first layer's."""

import dataclasses

NAME = "get_value_buffer gives the first layer's"
KILLED_BY = "kv-pool.getters-show-what-is-stored"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_value_buffer(self, layer_id):
            return super().get_value_buffer(self.start_layer or 0)

    return dataclasses.replace(reference, kv_pool=Mutant)
