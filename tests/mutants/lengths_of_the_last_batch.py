"""Decode uses the lengths of the batch before."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Decode uses the lengths of the batch before"
KILLED_BY = "attention-backend.second-batch-is-its-own"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            before = self.__dict__.get("_before")
            self._before = forward_batch.seq_lens.clone(), forward_batch.seq_lens_cpu.clone()
            same = before is not None and len(before[0]) == forward_batch.batch_size
            if same and forward_batch.forward_mode.is_decode():
                forward_batch = Changed(forward_batch, seq_lens=before[0], seq_lens_cpu=before[1])
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
