"""A captured graph attends to 64 keys at most."""

import dataclasses

NAME = "A captured graph attends to 64 keys at most"
KILLED_BY = "graph.replay-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def _fill_graph(self, batch_size, requests, seq_lens, seq_lens_cpu):
            lens = seq_lens.clamp(max=64)
            host = None if seq_lens_cpu is None else seq_lens_cpu.clamp(max=64)
            super()._fill_graph(batch_size, requests, lens, host)

    return dataclasses.replace(reference, make_backend=Mutant)
