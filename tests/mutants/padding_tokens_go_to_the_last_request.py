"""Tokens of padding are counted as the last request's."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Tokens of padding are counted as the last request's"
KILLED_BY = "attention-backend.padded-batches-are-served"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            host = getattr(forward_batch, "extend_seq_lens_cpu", None)
            more = 0 if host is None else forward_batch.out_cache_loc.shape[0] - sum(host)
            if more > 0:
                lens = forward_batch.extend_seq_lens.clone()
                lens[-1] += more
                host = [*host[:-1], host[-1] + more]
                forward_batch = Changed(
                    forward_batch, extend_seq_lens=lens, extend_seq_lens_cpu=host
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
