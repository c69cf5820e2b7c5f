"""An idle batch before any other is refused."""

import dataclasses

NAME = "An idle batch before any other is refused"
KILLED_BY = "attention-backend.idle-passes-leave-nothing-behind"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_idle() and self.forward_metadata is None:
                raise RuntimeError("no batch yet")
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
