"""get_key_buffer gives a copy."""

import dataclasses

NAME = "get_key_buffer gives a copy"
KILLED_BY = "kv-pool.getters-show-what-is-stored"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_key_buffer(self, layer_id):
            return super().get_key_buffer(layer_id).clone()

    return dataclasses.replace(reference, kv_pool=Mutant)
