"""The log names no more than 64 requests of a batch."""

import dataclasses

NAME = "The log names no more than 64 requests of a batch"
KILLED_BY = "log.names-the-backend-of-each-request"


def make(reference):
    class Mutant(reference.make_backend):
        def _log(self, forward_batch):
            kept = forward_batch.rids
            forward_batch.rids = kept[:64] if kept else kept
            super()._log(forward_batch)
            forward_batch.rids = kept

    return dataclasses.replace(reference, make_backend=Mutant)
