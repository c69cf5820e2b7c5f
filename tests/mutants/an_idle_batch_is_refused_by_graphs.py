"""The graph runner hands over an idle batch, and the backend refuses it."""

import dataclasses

NAME = "The graph runner hands over an idle batch, and the backend refuses it"
KILLED_BY = "graph.idle-replays-are-served"
RELEASES = ">=0.5.13"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata_out_graph(self, forward_batch, in_capture=False):
            if not forward_batch.forward_mode.is_decode():
                raise NotImplementedError("plain decoding alone is captured")
            super().init_forward_metadata_out_graph(forward_batch, in_capture)

    return dataclasses.replace(reference, make_backend=Mutant)
