"""The values' bytes are taken to be the keys'."""

import dataclasses

NAME = "The values' bytes are taken to be the keys'"
KILLED_BY = "kv-pool.reports-its-size"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_kv_size_bytes(self):
            keys, _ = super().get_kv_size_bytes()
            return keys, keys // 2

    return dataclasses.replace(reference, kv_pool=Mutant)
