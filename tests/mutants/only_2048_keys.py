"""Decode attends to 2,048 keys at most."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Decode attends to 2,048 keys at most"
KILLED_BY = "attention-backend.forty-thousand-keys-are-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode():
                forward_batch = Changed(
                    forward_batch,
                    seq_lens=forward_batch.seq_lens.clamp(max=2048),
                    seq_lens_cpu=forward_batch.seq_lens_cpu.clamp(max=2048),
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
