"""move_kv_cache copies the targets over the sources."""

import dataclasses

NAME = "move_kv_cache copies the targets over the sources"
KILLED_BY = "kv-pool.moves-slots"
RELEASES = ">=0.4.7.post1"


def make(reference):
    class Mutant(reference.kv_pool):
        def move_kv_cache(self, tgt_loc, src_loc):
            super().move_kv_cache(src_loc, tgt_loc)

    return dataclasses.replace(reference, kv_pool=Mutant)
