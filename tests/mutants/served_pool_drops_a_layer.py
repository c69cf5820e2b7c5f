"""The pool that the platform hands out writes every layer to the first one's buffer."""

import dataclasses

from sglang_contracts.suite.served import platform_class

NAME = "The pool that the platform hands out writes every layer to the first one's buffer"
KILLED_BY = "kv-pool.tokens-land-in-their-slots"
RELEASES = ">=0.5.11"


def make(reference):
    class Pool(reference.kv_pool):
        def set_kv_buffer(self, layer, *args, **kwargs):
            kwargs["layer_id_override"] = self.start_layer
            super().set_kv_buffer(layer, *args, **kwargs)

    class Mutant(platform_class(reference)):
        def get_mha_kv_pool_cls(self):
            return Pool

        def get_kv_pool_cls(self, *, kind):
            return Pool if kind == "mha" else None

    return dataclasses.replace(reference, platform=Mutant)
