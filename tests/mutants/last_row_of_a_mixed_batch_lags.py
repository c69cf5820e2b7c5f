"""In a mixed batch the last row does not see its newest key."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "In a mixed batch the last row does not see its newest key"
KILLED_BY = "attention-backend.mixed-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            if forward_batch.forward_mode.is_mixed():
                prefixes = forward_batch.extend_prefix_lens.clone()
                prefixes[-1] = (prefixes[-1] - 1).clamp(min=0)
                forward_batch = Changed(
                    forward_batch,
                    extend_prefix_lens=prefixes,
                    extend_prefix_lens_cpu=prefixes.tolist(),
                )
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
