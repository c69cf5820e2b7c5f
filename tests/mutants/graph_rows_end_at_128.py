"""A graph of more than 128 requests reads the first one's cache in the others."""

import dataclasses

NAME = "A graph of more than 128 requests reads the first one's cache in the others"
KILLED_BY = "graph.sizes-of-the-release-are-captured"


def make(reference):
    class Mutant(reference.make_backend):
        def _fill_graph(self, batch_size, requests, seq_lens, seq_lens_cpu):
            if batch_size > 128:
                requests = requests.clone()
                requests[128:] = requests[0]
            super()._fill_graph(batch_size, requests, seq_lens, seq_lens_cpu)

    return dataclasses.replace(reference, make_backend=Mutant)
