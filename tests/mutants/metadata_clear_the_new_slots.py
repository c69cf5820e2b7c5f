"""Building metadata clears the first slot of the request table's first row."""

import dataclasses

NAME = "Building metadata clears the first slot of the request table's first row"
KILLED_BY = "kv-pool.foreign-slots-untouched"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            lens = forward_batch.seq_lens_cpu
            if forward_batch.forward_mode.is_decode() and len(lens) > 1:
                row = forward_batch.req_pool_indices[-1]
                slot = self.req_to_token_pool.req_to_token[row, 0]
                self.token_to_kv_pool.k_buffer[-1][slot] = 0

    return dataclasses.replace(reference, make_backend=Mutant)
