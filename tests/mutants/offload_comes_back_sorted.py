"""What was offloaded comes back in the order of the slots."""

import dataclasses

NAME = "What was offloaded comes back in the order of the slots"
KILLED_BY = "kv-pool.offload-restores"


def make(reference):
    class Mutant(reference.kv_pool):
        def load_cpu_copy(self, kv_cache_cpu, indices, *args, **kwargs):
            super().load_cpu_copy(kv_cache_cpu, indices.sort().values, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
