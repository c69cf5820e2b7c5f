"""A cache of eight bits is not refused, and its bytes are read as whole numbers."""

import dataclasses

NAME = "A cache of eight bits is not refused, and its bytes are read as whole numbers"
KILLED_BY = "attention-backend.undeclared-cache-dtypes-are-refused"


def make(reference):
    class Mutant(reference.make_backend):
        def _cache(self, layer):
            from kunlun_backend.backend import _blocks

            pool = self.token_to_kv_pool
            if not hasattr(pool, "k_buffer"):
                return super()._cache(layer)
            index = layer.layer_id - pool.start_layer
            buffers = pool.k_buffer[index], pool.v_buffer[index]
            return tuple(_blocks(buffer, self.page_size) for buffer in buffers)

    return dataclasses.replace(reference, make_backend=Mutant, kv_pool=None)
