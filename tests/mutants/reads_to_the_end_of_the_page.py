"""Decode reads the rest of the last page as well."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Decode reads the rest of the last page as well"
KILLED_BY = "attention-backend.foreign-slots-are-not-read"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode():
                page = max(self.token_to_kv_pool.page_size, 2)

                def rounded(lens):
                    return (lens + page - 1) // page * page

                forward_batch = Changed(
                    forward_batch,
                    seq_lens=rounded(forward_batch.seq_lens),
                    seq_lens_cpu=rounded(forward_batch.seq_lens_cpu),
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
