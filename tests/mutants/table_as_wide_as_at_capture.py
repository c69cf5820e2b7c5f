"""A captured graph sees as many pages as its requests had at capture."""

import dataclasses

NAME = "A captured graph sees as many pages as its requests had at capture"
KILLED_BY = "graph.replay-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def _fill_graph(self, batch_size, requests, seq_lens, seq_lens_cpu):
            short = seq_lens.clamp(max=2 * self.page_size)
            super()._fill_graph(batch_size, requests, short, seq_lens_cpu)

    return dataclasses.replace(reference, make_backend=Mutant)
