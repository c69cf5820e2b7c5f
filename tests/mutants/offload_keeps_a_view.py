"""get_cpu_copy hands out views of the pool."""

import dataclasses

NAME = "get_cpu_copy hands out views of the pool"
KILLED_BY = "kv-pool.offload-restores"
RELEASES = ">=0.4.8"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_cpu_copy(self, indices, *args, **kwargs):
            first, last = int(indices[0]), int(indices[-1]) + 1
            return [buffer[first:last] for buffer in (*self.k_buffer, *self.v_buffer)]

    return dataclasses.replace(reference, kv_pool=Mutant)
