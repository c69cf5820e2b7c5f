"""The transfer code is told the bytes of a slot for those of a page."""

import dataclasses

NAME = "The transfer code is told the bytes of a slot for those of a page"
KILLED_BY = "kv-pool.hands-its-buffers-to-transfer"


def make(reference):
    class Mutant(reference.kv_pool):
        def get_contiguous_buf_infos(self):
            addresses, lengths, items = super().get_contiguous_buf_infos()
            return addresses, lengths, [each // self.page_size for each in items]

    return dataclasses.replace(reference, kv_pool=Mutant)
