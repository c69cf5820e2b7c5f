"""What stands on the padding page is multiplied by zero and added."""

import dataclasses

NAME = "What stands on the padding page is multiplied by zero and added"
KILLED_BY = "attention-backend.free-slots-may-hold-anything"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, *args, **kwargs):
            out = super().forward_decode(q, k, v, layer, *args, **kwargs)
            values = self.token_to_kv_pool.get_value_buffer(layer.layer_id)
            return out + 0 * values[0].float().sum().to(out.dtype)

    return dataclasses.replace(reference, make_backend=Mutant)
