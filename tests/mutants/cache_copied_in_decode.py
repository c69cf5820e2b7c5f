"""Decode first copies each request's cache into one piece."""

import dataclasses

NAME = "Decode first copies each request's cache into one piece"
KILLED_BY = "decode.cost-is-steady"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            longest = int(forward_batch.seq_lens_cpu.max())
            slots = self.req_to_token_pool.req_to_token[forward_batch.req_pool_indices, :longest]
            self.token_to_kv_pool.k_buffer[layer.layer_id][slots]
            return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
