"""A decode batch with other rows than request names is refused."""

import dataclasses

NAME = "A decode batch with other rows than request names is refused"
KILLED_BY = "attention-backend.padded-batches-are-served"
RELEASES = ">=0.5.11"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            names = getattr(forward_batch, "rids", None)
            if names is not None and len(names) != forward_batch.seq_lens.shape[0]:
                raise ValueError("rows without a name")
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
