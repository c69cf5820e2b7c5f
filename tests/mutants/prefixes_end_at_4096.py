"""A prefill sees 4,096 cached tokens at most."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A prefill sees 4,096 cached tokens at most"
KILLED_BY = "attention-backend.long-prefills-equal-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if getattr(forward_batch, "extend_prefix_lens", None) is not None:
                cut = forward_batch.extend_prefix_lens.clamp(max=4096)
                host = [min(4096, n) for n in forward_batch.extend_prefix_lens_cpu]
                forward_batch = Changed(
                    forward_batch, extend_prefix_lens=cut, extend_prefix_lens_cpu=host
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
