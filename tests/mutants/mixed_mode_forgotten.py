"""A mixed batch falls through the mode dispatch."""

import dataclasses

NAME = "A mixed batch falls through the mode dispatch"
KILLED_BY = "attention-backend.serves-every-declared-mode"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.name not in ("EXTEND", "DECODE", "IDLE"):
                raise ValueError(f"unsupported forward mode {forward_batch.forward_mode.name}")
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
