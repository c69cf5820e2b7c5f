"""get_cpu_copy does not take what the allocator hands on."""

import dataclasses

NAME = "get_cpu_copy does not take what the allocator hands on"
KILLED_BY = "kv-pool.offload-restores"
RELEASES = ">=0.5.11"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_cpu_copy(self, indices):
            return super().get_cpu_copy(indices)

    return dataclasses.replace(reference, kv_pool=Mutant)
