"""With a single key head the last query head repeats the one before."""

import dataclasses

NAME = "With a single key head the last query head repeats the one before"
KILLED_BY = "attention-backend.key-heads-are-shared-by-neighbours"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_decode(q, k, v, layer, *args, **kwargs)
            if layer.tp_k_head_num == 1:
                heads = out.view(out.shape[0], layer.tp_q_head_num, -1)
                heads[:, -1] = heads[:, -2]
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
