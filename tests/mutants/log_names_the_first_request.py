"""The log names only the first request of a batch."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The log names only the first request of a batch"
KILLED_BY = "log.names-the-backend-of-each-request"
RELEASES = ">=0.5.11"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            first = Changed(forward_batch, rids=forward_batch.rids[:1])
            super().init_forward_metadata(first)

    return dataclasses.replace(reference, make_backend=Mutant)
