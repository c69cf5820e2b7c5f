"""Every request is given the first one's prefix length."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Every request is given the first one's prefix length"
KILLED_BY = "attention-backend.prefix-is-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if (
                forward_batch.forward_mode.is_extend()
                and forward_batch.extend_prefix_lens is not None
            ):
                first = int(forward_batch.extend_prefix_lens_cpu[0])
                lens = [min(first, int(n)) for n in forward_batch.extend_prefix_lens_cpu]
                forward_batch = Changed(
                    forward_batch,
                    extend_prefix_lens=forward_batch.extend_prefix_lens.clamp(max=first),
                    extend_prefix_lens_cpu=lens,
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
