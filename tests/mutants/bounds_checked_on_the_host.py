"""Every write asks the device for its largest slot."""

import dataclasses

NAME = "Every write asks the device for its largest slot"
KILLED_BY = "kv-path.pool-writes-stay-on-the-device"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, cache_k, cache_v, *args, **kwargs):
            if int(getattr(loc_info, "loc", loc_info).max()) > self.size + self.page_size:
                raise IndexError("slot out of range")
            super().set_kv_buffer(layer, loc_info, cache_k, cache_v, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
