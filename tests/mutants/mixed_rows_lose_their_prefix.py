"""In a mixed batch decode rows attend to themselves alone."""

import dataclasses

NAME = "In a mixed batch decode rows attend to themselves alone"
KILLED_BY = "attention-backend.mixed-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, forward_batch, *args, **kwargs):
            out = super().forward_extend(q, k, v, layer, forward_batch, *args, **kwargs)
            if forward_batch.forward_mode.name == "MIXED":
                groups = layer.tp_q_head_num // layer.tp_v_head_num
                own = v.view(-1, layer.tp_v_head_num, layer.v_head_dim)
                own = own.repeat_interleave(groups, 1).flatten(1)
                end = 0
                for count in forward_batch.extend_seq_lens_cpu:
                    if count == 1:
                        out[end] = own[end]
                    end += count
            return out

    return dataclasses.replace(reference, make_backend=Mutant)
