"""Slot numbers are cut to 16 bits when keys are written."""

import dataclasses

NAME = "Slot numbers are cut to 16 bits when keys are written"
KILLED_BY = "attention-backend.slots-beyond-16-bits-are-reached"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, *args, **kwargs):
            loc = getattr(loc_info, "loc", loc_info) & 0xFFFF
            super().set_kv_buffer(layer, loc, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
