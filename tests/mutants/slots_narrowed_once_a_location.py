"""Slots are narrowed once for each vector of locations, which graphs use for ever."""

import dataclasses

NAME = "Slots are narrowed once for each vector of locations, which graphs use for ever"
KILLED_BY = "graph.replay-writes-the-new-slots"


def make(reference):
    class Mutant(reference.kv_pool):
        def set_kv_buffer(self, layer, loc_info, *args, **kwargs):
            given = getattr(loc_info, "loc", loc_info)
            if given is not self.__dict__.get("_given"):
                self._given, self._kept = given, given.clone()
            super().set_kv_buffer(layer, self._kept, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
