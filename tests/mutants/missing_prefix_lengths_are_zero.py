"""Prefix lengths that are missing on the host are taken for zero."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Prefix lengths that are missing on the host are taken for zero"
KILLED_BY = "attention-backend.host-lengths-may-be-missing"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if getattr(forward_batch, "extend_prefix_lens", None) is not None:
                host = forward_batch.extend_prefix_lens_cpu
                none = [0] * forward_batch.batch_size
                forward_batch = Changed(
                    forward_batch, extend_prefix_lens_cpu=none if host is None else host
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
