"""Decode reads the longest length back from the device, though the host knows it."""

import dataclasses

NAME = "Decode reads the longest length back from the device, though the host knows it"
KILLED_BY = "metadata.takes-lengths-from-the-host"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode() and not forward_batch.forward_mode.is_idle():
                self.longest = int(forward_batch.seq_lens.max())
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
