"""init_cuda_graph_state takes the old single argument."""

import dataclasses

NAME = "init_cuda_graph_state takes the old single argument"
KILLED_BY = "attention-backend.takes-what-core-passes"


def make(reference):
    class Mutant(reference.make_backend):
        def init_cuda_graph_state(self, max_bs):
            super().init_cuda_graph_state(max_bs, max_bs)

    return dataclasses.replace(reference, make_backend=Mutant)
