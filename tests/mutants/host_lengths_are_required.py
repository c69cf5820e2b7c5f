"""Without the lengths on the host a decode raises."""

import dataclasses

NAME = "Without the lengths on the host a decode raises"
KILLED_BY = "attention-backend.host-lengths-may-be-missing"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode():
                forward_batch.seq_lens_cpu.max()
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
