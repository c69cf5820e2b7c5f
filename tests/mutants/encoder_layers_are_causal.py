"""A layer that attends both ways is computed causally."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "A layer that attends both ways is computed causally"
KILLED_BY = "attention-backend.layers-are-obeyed-or-refused"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            from sglang.srt.layers.radix_attention import AttentionType

            plain = Changed(layer, attn_type=AttentionType.DECODER)
            return super().forward_extend(q, k, v, plain, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
