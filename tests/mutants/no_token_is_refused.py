"""Writing no token raises."""

import dataclasses

NAME = "Writing no token raises"
KILLED_BY = "kv-pool.takes-the-write-location-of-core"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, *args, **kwargs):
            if getattr(loc_info, "loc", loc_info).max() < 0:
                raise ValueError("no slot")
            super().set_kv_buffer(layer, loc_info, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
