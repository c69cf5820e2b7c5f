"""mem_usage is given in bytes, not in GiB."""

import dataclasses

NAME = "mem_usage is given in bytes, not in GiB"
KILLED_BY = "kv-pool.says-what-it-is"


def make(reference):
    class Mutant(reference.kv_pool):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.mem_usage = sum(b.nbytes for b in (*self.k_buffer, *self.v_buffer))

    return dataclasses.replace(reference, kv_pool=Mutant)
