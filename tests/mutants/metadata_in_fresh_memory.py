"""Decode metadata are put into fresh memory every time."""

import dataclasses

NAME = "Decode metadata are put into fresh memory every time"
KILLED_BY = "decode.allocates-only-its-result"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            self._lens = forward_batch.seq_lens.clone()

    return dataclasses.replace(reference, make_backend=Mutant)
