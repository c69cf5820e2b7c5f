"""A cached prefix is not attended to."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "A cached prefix is not attended to"
KILLED_BY = "attention-backend.prefix-is-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if (
                forward_batch.forward_mode.is_extend()
                and forward_batch.extend_prefix_lens is not None
            ):
                forward_batch = Changed(
                    forward_batch,
                    extend_prefix_lens=torch.zeros_like(forward_batch.extend_prefix_lens),
                    extend_prefix_lens_cpu=[0] * forward_batch.batch_size,
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
