"""Loading an offloaded request restores keys only."""

import dataclasses

NAME = "Loading an offloaded request restores keys only"
KILLED_BY = "kv-pool.offload-restores"
RELEASES = ">=0.4.8"


def make(reference):
    class Mutant(reference.kv_pool):
        def load_cpu_copy(self, kv_cache_cpu, indices, *args, **kwargs):
            values = [buffer.clone() for buffer in self.v_buffer]
            super().load_cpu_copy(kv_cache_cpu, indices, *args, **kwargs)
            for buffer, kept in zip(self.v_buffer, values, strict=True):
                buffer.copy_(kept)

    return dataclasses.replace(reference, kv_pool=Mutant)
