"""A field is looked up by its old key and gives a KeyError."""

import dataclasses

NAME = "A field is looked up by its old key and gives a KeyError"
KILLED_BY = "attention-backend.serves-every-declared-mode"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            vars(forward_batch)["extend_seq_lens_host"]
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
