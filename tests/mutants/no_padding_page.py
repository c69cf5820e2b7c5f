"""The pool has no padding page."""

import dataclasses

NAME = "The pool has no padding page"
KILLED_BY = "kv-pool.buffers-have-the-declared-layout"


def make(reference):
    class Mutant(reference.kv_pool):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.k_buffer = [buffer[: self.size] for buffer in self.k_buffer]
            self.v_buffer = [buffer[: self.size] for buffer in self.v_buffer]

    return dataclasses.replace(reference, kv_pool=Mutant)
