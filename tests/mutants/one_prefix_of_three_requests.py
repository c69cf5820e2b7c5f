"""Where three requests of a batch begin in one slot, the last one's prefix is not attended to."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Where three requests of a batch begin in one slot, the last one's prefix is not attended to"
KILLED_BY = "attention-backend.prefix-is-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_extend() and forward_batch.batch_size > 2:
                table = self.req_to_token_pool.req_to_token
                first = table[forward_batch.req_pool_indices, 0]
                if int((first == first[-1]).sum()) > 2:
                    prefixes = forward_batch.extend_prefix_lens.clone()
                    prefixes[-1] = 0
                    forward_batch = Changed(
                        forward_batch,
                        extend_prefix_lens=prefixes,
                        extend_prefix_lens_cpu=prefixes.tolist(),
                    )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
