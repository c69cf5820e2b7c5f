"""Every layer asks the device for the longest sequence."""

import dataclasses

NAME = "Every layer asks the device for the longest sequence"
KILLED_BY = "kv-path.layers-do-not-wait"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            int(forward_batch.seq_lens.max().item())
            return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
