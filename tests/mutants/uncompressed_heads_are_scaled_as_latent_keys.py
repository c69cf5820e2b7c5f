"""Over a pool of latent keys every layer is scaled by the latent's width, uncompressed ones too."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Over a pool of latent keys every layer is scaled by the latent's width, also uncompressed"
KILLED_BY = "latent-attention.uncompressed-prefill-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, **kwargs):
            width = getattr(self.token_to_kv_pool, "kv_cache_dim", 0)
            if width and layer.tp_k_head_num > 1:
                layer = Changed(layer, scaling=width**-0.5)
            return super().forward_extend(q, k, v, layer, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
