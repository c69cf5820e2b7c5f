"""What get_cpu_copy takes stays in the card's memory."""

import dataclasses

NAME = "What get_cpu_copy takes stays in the card's memory"
KILLED_BY = "kv-path.offload-lies-on-the-host"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_cpu_copy(self, indices, *args, **kwargs):
            return [buffer[indices] for buffer in (*self.k_buffer, *self.v_buffer)]

    return dataclasses.replace(reference, kv_pool=Mutant)
