"""Values are kept in float32 whatever the cache's dtype."""

import dataclasses

NAME = "Values are kept in float32 whatever the cache's dtype"
KILLED_BY = "kv-pool.buffers-have-the-declared-layout"


def make(reference):
    class Mutant(reference.kv_pool):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.v_buffer = [buffer.float() for buffer in self.v_buffer]

    return dataclasses.replace(reference, kv_pool=Mutant)
