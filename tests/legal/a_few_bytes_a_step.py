"""A decode layer and the metadata of a step make small tensors of fixed size."""

import dataclasses

NAME = "A decode layer and the metadata of a step make small tensors of fixed size"
FAMILIES = (
    "attention-backend.prefill-eq",
    "attention-backend.decode-eq",
    "attention-backend.prefix-is",
    "attention-backend.results-are",
    "attention-backend.free-slots",
    "decode.",
    "metadata.",
    "kv-path.",
)


def make(reference):
    class Variant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            forward_batch.seq_lens.new_zeros(16)
            super().init_forward_metadata(forward_batch)

        def forward_decode(self, q, *args, **kwargs):
            q.new_empty(64)
            return super().forward_decode(q, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Variant)
