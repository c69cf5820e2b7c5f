"""Prefill asks the device whether there is a prefix in every layer."""

import dataclasses

NAME = "Prefill asks the device whether there is a prefix in every layer"
KILLED_BY = "kv-path.layers-do-not-wait"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, *args, **kwargs):
            prefixes = forward_batch.extend_prefix_lens
            if max(forward_batch.extend_prefix_lens_cpu, default=0) and prefixes.max().item() < 0:
                raise ValueError
            return super().forward_extend(q, k, v, layer, forward_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
