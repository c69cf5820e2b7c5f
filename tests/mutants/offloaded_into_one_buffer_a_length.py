"""Requests of one length are offloaded into one buffer."""

import dataclasses

NAME = "Requests of one length are offloaded into one buffer"
KILLED_BY = "kv-pool.offload-restores"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_cpu_copy(self, indices, *args, **kwargs):
            taken = super().get_cpu_copy(indices, *args, **kwargs)
            staged = self.__dict__.setdefault("_staged", {}).setdefault(len(indices), taken)
            for held, rows in zip(staged, taken, strict=True):
                held.copy_(rows)
            return staged

    return dataclasses.replace(reference, kv_pool=Mutant)
