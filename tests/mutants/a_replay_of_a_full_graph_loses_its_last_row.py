"""A replay that fills its graph leaves the last row as it was captured."""

import dataclasses

NAME = "A replay that fills its graph leaves the last row as it was captured"
KILLED_BY = "graph.batch-sizes-do-not-disturb-each-other"


def make(reference):
    class Mutant(reference.make_backend):
        def _fill_graph(self, batch_size, requests, seq_lens, seq_lens_cpu):
            kept = None
            if batch_size == self._graph.rows and batch_size in self._graph_views:
                view = self._graph_views[batch_size]
                kept = view.context_lens[-1:].clone(), view.block_tables[-1:].clone()
            super()._fill_graph(batch_size, requests, seq_lens, seq_lens_cpu)
            if kept is not None:
                self.forward_metadata.context_lens[-1:] = kept[0]
                self.forward_metadata.block_tables[-1:] = kept[1]

    return dataclasses.replace(reference, make_backend=Mutant)
