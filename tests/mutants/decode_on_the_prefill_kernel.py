"""Decode is served as a prefill of one token."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "Decode is served as a prefill of one token"
KILLED_BY = "kernels.prefill-and-decode-take-their-own"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_decode():
                ones = torch.ones_like(forward_batch.seq_lens, dtype=torch.int32)
                forward_batch = Changed(
                    forward_batch,
                    forward_mode=type(forward_batch.forward_mode).EXTEND,
                    extend_seq_lens=ones,
                    extend_prefix_lens=(forward_batch.seq_lens - 1).to(torch.int32),
                    extend_seq_lens_cpu=[1] * forward_batch.batch_size,
                    extend_prefix_lens_cpu=(forward_batch.seq_lens_cpu - 1).tolist(),
                )
            super().init_forward_metadata(forward_batch)

        def forward_decode(self, *args, **kwargs):
            return super().forward_extend(*args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
