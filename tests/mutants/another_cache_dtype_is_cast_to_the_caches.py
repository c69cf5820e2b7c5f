"""Where the cache has another dtype than the queries, results are rounded to the cache's."""

import dataclasses

NAME = "Where the cache has another dtype than the queries, results are rounded to the cache's"
KILLED_BY = "attention-backend.cache-dtypes-equal-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_decode(self, q, *args, **kwargs):
            out = super().forward_decode(q, *args, **kwargs)
            return out.to(self.token_to_kv_pool.dtype).to(q.dtype)

    return dataclasses.replace(reference, make_backend=Mutant)
