"""get_kv_size_bytes leaves the padding page out."""

import dataclasses

NAME = "get_kv_size_bytes leaves the padding page out"
KILLED_BY = "kv-pool.reports-its-size"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_kv_size_bytes(self):
            parts = super().get_kv_size_bytes()
            rows = self.size + self.page_size
            return tuple(part // rows * self.size for part in parts)

    return dataclasses.replace(reference, kv_pool=Mutant)
