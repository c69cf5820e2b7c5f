"""Decode metadata are brought up to date when layer 0 runs."""

import dataclasses

NAME = "Decode metadata are brought up to date when layer 0 runs"
KILLED_BY = "attention-backend.later-pipeline-ranks-are-served"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            self._waiting = forward_batch
            if (
                self.forward_metadata is None
                or not forward_batch.forward_mode.is_decode()
                or not hasattr(self.forward_metadata, "context_lens")
            ):
                super().init_forward_metadata(forward_batch)

        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            if layer.layer_id == 0:
                super().init_forward_metadata(self._waiting)
            return super().forward_decode(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
