"""The transfer code is given the key buffers alone."""

import dataclasses

NAME = "The transfer code is given the key buffers alone"
KILLED_BY = "kv-pool.hands-its-buffers-to-transfer"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_contiguous_buf_infos(self):
            addresses, lengths, items = super().get_contiguous_buf_infos()
            half = len(addresses) // 2
            return addresses[:half], lengths[:half], items[:half]

    return dataclasses.replace(reference, kv_pool=Mutant)
