"""An idle batch makes new storage, and captured graphs read the old one."""

import dataclasses

NAME = "An idle batch makes new storage, and captured graphs read the old one"
KILLED_BY = "graph.idle-replays-are-served"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            if forward_batch.forward_mode.is_idle() and self._graph is not None:
                self.init_cuda_graph_state(self._graph.rows, self._graph.rows)

    return dataclasses.replace(reference, make_backend=Mutant)
