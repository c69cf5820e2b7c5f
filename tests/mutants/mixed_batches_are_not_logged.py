"""Requests that arrive in a mixed batch are not logged."""

import dataclasses

NAME = "Requests that arrive in a mixed batch are not logged"
KILLED_BY = "log.names-the-backend-of-each-request"
RELEASES = ">=0.5.11"  # a batch names its requests since


def make(reference):
    class Mutant(reference.make_backend):
        def _log(self, forward_batch):
            if not forward_batch.forward_mode.is_mixed():
                super()._log(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
