"""A length that fills its page counts as the page before."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "A length that fills its page counts as the page before"
KILLED_BY = "attention-backend.page-edges-hold"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode():
                page = self.token_to_kv_pool.page_size

                def shortened(lens):
                    return torch.where((lens % page == 0) & (lens > 1), lens - 1, lens)

                forward_batch = Changed(
                    forward_batch,
                    seq_lens=shortened(forward_batch.seq_lens),
                    seq_lens_cpu=shortened(forward_batch.seq_lens_cpu),
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
