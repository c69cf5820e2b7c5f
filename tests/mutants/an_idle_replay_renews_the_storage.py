"""A replay of padding alone makes new storage for the metadata."""

import dataclasses

NAME = "A replay of padding alone makes new storage for the metadata"
KILLED_BY = "graph.idle-replays-are-served"


def make(reference):
    class Mutant(reference.make_backend):
        def _fill_graph(self, batch_size, requests, seq_lens, seq_lens_cpu):
            if self.__dict__.get("_began") and bool((requests == 0).all()):
                self.init_cuda_graph_state(self._graph.rows, self._graph.rows)
            self._began = True
            super()._fill_graph(batch_size, requests, seq_lens, seq_lens_cpu)

    return dataclasses.replace(reference, make_backend=Mutant)
