"""A replay does not refresh the metadata."""

import dataclasses

NAME = "A replay does not refresh the metadata"
KILLED_BY = "graph.replay-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata_out_graph(self, forward_batch, in_capture=False):
            if in_capture:
                super().init_forward_metadata_out_graph(forward_batch, in_capture)

        def init_forward_metadata_replay_cuda_graph(self, *args, **kwargs):
            pass

    return dataclasses.replace(reference, make_backend=Mutant)
