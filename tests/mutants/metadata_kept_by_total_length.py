"""Metadata are kept for batches of the same total length."""

import copy
import dataclasses

NAME = "Metadata are kept for batches of the same total length"
KILLED_BY = "attention-backend.second-batch-is-its-own"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            kept = self.__dict__.setdefault("_kept", {})
            key = (
                forward_batch.forward_mode.name,
                forward_batch.batch_size,
                forward_batch.seq_lens_sum,
            )
            if key not in kept:
                super().init_forward_metadata(forward_batch)
                kept[key] = copy.deepcopy(self.forward_metadata)
            self.forward_metadata = kept[key]

    return dataclasses.replace(reference, make_backend=Mutant)
