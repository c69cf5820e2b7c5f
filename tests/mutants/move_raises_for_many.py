"""move_kv_cache takes no more than two slots."""

import dataclasses

NAME = "move_kv_cache takes no more than two slots"
KILLED_BY = "kv-pool.moves-slots"
RELEASES = ">=0.4.7.post1"


def make(reference):
    class Mutant(reference.kv_pool):
        def move_kv_cache(self, tgt_loc, src_loc):
            if len(tgt_loc) > 2:
                raise ValueError("two at most")
            super().move_kv_cache(tgt_loc, src_loc)

    return dataclasses.replace(reference, kv_pool=Mutant)
