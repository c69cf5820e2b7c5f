"""Every captured batch size makes the storage anew."""

import dataclasses

NAME = "Every captured batch size makes the storage anew"
KILLED_BY = "graph.batch-sizes-do-not-disturb-each-other"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata_out_graph(self, forward_batch, in_capture=False):
            if in_capture:
                self.init_cuda_graph_state(8, 8)
            super().init_forward_metadata_out_graph(forward_batch, in_capture)

        def init_forward_metadata_capture_cuda_graph(self, *args, **kwargs):
            self.init_cuda_graph_state(8, 8)
            super().init_forward_metadata_capture_cuda_graph(*args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
