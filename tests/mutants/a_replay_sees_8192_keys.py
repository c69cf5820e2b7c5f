"""A captured graph attends to 8,192 keys at most."""

import dataclasses

NAME = "A captured graph attends to 8,192 keys at most"
KILLED_BY = "graph.forty-thousand-keys-are-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def _fill_graph(self, batch_size, requests, seq_lens, seq_lens_cpu):
            seq_lens_cpu = None if seq_lens_cpu is None else seq_lens_cpu.clamp(max=8192)
            seq_lens = seq_lens.clamp(max=8192)
            super()._fill_graph(batch_size, requests, seq_lens, seq_lens_cpu)

    return dataclasses.replace(reference, make_backend=Mutant)
