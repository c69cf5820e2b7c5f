"""A replay takes the lengths on the host for granted."""

import dataclasses

NAME = "A replay takes the lengths on the host for granted"
KILLED_BY = "attention-backend.host-lengths-may-be-missing"


def make(reference):
    class Mutant(reference.make_backend):
        def _fill_graph(self, batch_size, requests, seq_lens, seq_lens_cpu):
            self.longest = int(seq_lens_cpu.max())
            super()._fill_graph(batch_size, requests, seq_lens, seq_lens_cpu)

    return dataclasses.replace(reference, make_backend=Mutant)
