"""Decode has room for one key too few and drops the oldest."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Decode has room for one key too few and drops the oldest"
KILLED_BY = "attention-backend.decode-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            window = int(forward_batch.seq_lens_cpu.max()) - 2
            narrow = Changed(layer, sliding_window_size=max(window, 0))
            return super().forward_decode(q, k, v, narrow, forward_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
