"""What the log knows of a request is never forgotten."""

import dataclasses

NAME = "What the log knows of a request is never forgotten"
KILLED_BY = "metadata.keeps-no-more-of-each-request"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            known = self.__dict__.setdefault("_known", {})
            for row in range(forward_batch.batch_size):
                known[len(known), row] = forward_batch.forward_mode.name

    return dataclasses.replace(reference, make_backend=Mutant)
