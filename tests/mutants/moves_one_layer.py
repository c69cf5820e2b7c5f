"""move_kv_cache moves the first layer alone."""

import dataclasses

NAME = "move_kv_cache moves the first layer alone"
KILLED_BY = "kv-pool.moves-slots"
RELEASES = ">=0.5.4"


def make(reference):
    class Mutant(reference.kv_pool):
        def move_kv_cache(self, tgt_loc, src_loc):
            for buffer in (self.k_buffer[0], self.v_buffer[0]):
                buffer[tgt_loc] = buffer[src_loc]

    return dataclasses.replace(reference, kv_pool=Mutant)
