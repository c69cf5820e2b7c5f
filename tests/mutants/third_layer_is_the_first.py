"""The pool keeps two layers' buffers and uses them in turn."""

import dataclasses

NAME = "The pool keeps two layers' buffers and uses them in turn"
KILLED_BY = "kv-pool.every-layer-has-its-own-buffers"


def make(reference):
    class Mutant(reference.kv_pool):
        def _create_buffers_normal(self):
            super()._create_buffers_normal()
            self.k_buffer = [self.k_buffer[index % 2] for index in range(self.layer_num)]
            self.v_buffer = [self.v_buffer[index % 2] for index in range(self.layer_num)]

    return dataclasses.replace(reference, kv_pool=Mutant)
