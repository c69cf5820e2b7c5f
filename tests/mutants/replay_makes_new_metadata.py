"""A replay puts its metadata into new tensors."""

import dataclasses

NAME = "A replay puts its metadata into new tensors"
KILLED_BY = "graph.addresses-do-not-change"


def _copied(metadata):
    parts = {
        field.name: getattr(metadata, field.name).clone() for field in dataclasses.fields(metadata)
    }
    return dataclasses.replace(metadata, **parts)


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata_out_graph(self, forward_batch, in_capture=False):
            super().init_forward_metadata_out_graph(forward_batch, in_capture)
            if not in_capture:
                self.forward_metadata = _copied(self.forward_metadata)

        def init_forward_metadata_replay_cuda_graph(self, *args, **kwargs):
            super().init_forward_metadata_replay_cuda_graph(*args, **kwargs)
            self.forward_metadata = _copied(self.forward_metadata)

    return dataclasses.replace(reference, make_backend=Mutant)
