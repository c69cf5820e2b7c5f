"""A decode of one request alone does not see its newest key."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A decode of one request alone does not see its newest key"
KILLED_BY = "attention-backend.decode-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode() and forward_batch.batch_size == 1:
                forward_batch = Changed(
                    forward_batch,
                    seq_lens=(forward_batch.seq_lens - 1).clamp(min=1),
                    seq_lens_cpu=(forward_batch.seq_lens_cpu - 1).clamp(min=1),
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
