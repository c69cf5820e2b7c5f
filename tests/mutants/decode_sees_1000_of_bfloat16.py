"""In bfloat16 decode attends to the first 1000 keys."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "In bfloat16 decode attends to the first 1000 keys"
KILLED_BY = "attention-backend.long-requests-are-attended-whole"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            half = str(self.token_to_kv_pool.dtype) == "torch.bfloat16"
            if half and forward_batch.forward_mode.is_decode():
                lens = forward_batch.seq_lens.clamp(max=1000)
                forward_batch = Changed(
                    forward_batch,
                    seq_lens=lens,
                    seq_lens_cpu=forward_batch.seq_lens_cpu.clamp(max=1000),
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
