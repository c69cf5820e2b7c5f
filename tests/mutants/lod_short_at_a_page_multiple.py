"""A request whose length is a whole number of pages loses its last key in prefill."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "A request whose length is a whole number of pages loses its last key in prefill"
KILLED_BY = "attention-backend.prefix-is-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if self.page_size > 1 and forward_batch.forward_mode.is_extend():
                prefixes = [
                    prefix - 1 if prefix and (prefix + count) % self.page_size == 0 else prefix
                    for prefix, count in zip(
                        forward_batch.extend_prefix_lens_cpu,
                        forward_batch.extend_seq_lens_cpu,
                        strict=True,
                    )
                ]
                device = forward_batch.extend_prefix_lens
                forward_batch = Changed(
                    forward_batch,
                    extend_prefix_lens_cpu=prefixes,
                    extend_prefix_lens=torch.tensor(prefixes, dtype=device.dtype).to(device.device),
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
