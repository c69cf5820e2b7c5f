"""The storage of captured graphs is made for four requests."""

import dataclasses

NAME = "The storage of captured graphs is made for four requests"
KILLED_BY = "graph.batch-sizes-do-not-disturb-each-other"


def make(reference):
    class Mutant(reference.make_backend):
        def init_cuda_graph_state(self, max_bs, max_num_tokens):
            super().init_cuda_graph_state(min(max_bs, 4), max_num_tokens)

    return dataclasses.replace(reference, make_backend=Mutant)
