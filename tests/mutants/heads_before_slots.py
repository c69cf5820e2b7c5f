"""The pool's axes are not the declared ones."""

import dataclasses

NAME = "The pool's axes are not the declared ones"
KILLED_BY = "kv-pool.buffers-have-the-declared-layout"


def make(reference):
    class Mutant(reference.kv_pool):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.k_buffer = [buffer.transpose(0, 1).contiguous() for buffer in self.k_buffer]

    return dataclasses.replace(reference, kv_pool=Mutant)
