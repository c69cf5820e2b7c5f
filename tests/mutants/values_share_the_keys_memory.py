"""The last layer's values lie where the first layer's do."""

import dataclasses

NAME = "The last layer's values lie where the first layer's do"
KILLED_BY = "kv-pool.every-layer-has-its-own-buffers"


def make(reference):
    class Mutant(reference.kv_pool):
        def _create_buffers_normal(self):
            super()._create_buffers_normal()
            if self.layer_num > 2:
                self.v_buffer[-1] = self.v_buffer[0]

    return dataclasses.replace(reference, kv_pool=Mutant)
