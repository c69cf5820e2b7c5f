"""A chunk is taken to start at a page edge."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "A chunk is taken to start at a page edge"
KILLED_BY = "attention-backend.chunked-equals-whole"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if (
                forward_batch.forward_mode.is_extend()
                and forward_batch.extend_prefix_lens is not None
            ):
                page = max(self.token_to_kv_pool.page_size, 2)
                lens = [int(n) // page * page for n in forward_batch.extend_prefix_lens_cpu]
                forward_batch = Changed(
                    forward_batch,
                    extend_prefix_lens=torch.div(
                        forward_batch.extend_prefix_lens, page, rounding_mode="floor"
                    )
                    * page,
                    extend_prefix_lens_cpu=lens,
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
