"""move_kv_cache goes slot by slot: one that is source and target hands on what it was given."""

import dataclasses

NAME = "move_kv_cache goes slot by slot: one that is source and target hands on what it was given"
KILLED_BY = "kv-pool.moves-slots"
RELEASES = ">=0.5.4"


def make(reference):
    class Mutant(reference.kv_pool):
        def move_kv_cache(self, tgt_loc, src_loc):
            for target, source in zip(tgt_loc.tolist(), src_loc.tolist(), strict=True):
                for buffer in (*self.k_buffer, *self.v_buffer):
                    buffer[target] = buffer[source]

    return dataclasses.replace(reference, kv_pool=Mutant)
