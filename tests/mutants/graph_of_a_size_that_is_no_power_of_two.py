"""A graph whose size is no power of two reads padding in its last rows."""

import dataclasses

NAME = "A graph whose size is no power of two reads padding in its last rows"
KILLED_BY = "graph.sizes-of-the-release-are-captured"


def make(reference):
    class Mutant(reference.make_backend):
        def _fill_graph(self, batch_size, requests, seq_lens, seq_lens_cpu):
            if batch_size & (batch_size - 1):
                requests = requests.clone()
                requests[1 << (batch_size.bit_length() - 1) :] = 0
            super()._fill_graph(batch_size, requests, seq_lens, seq_lens_cpu)

    return dataclasses.replace(reference, make_backend=Mutant)
