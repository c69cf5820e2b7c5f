"""The backend sorts the rows of a decode by length and gives results in batch order."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "The backend sorts the rows of a decode by length and gives results in batch order"
FAMILIES = (
    "attention-backend.prefill-eq",
    "attention-backend.decode-eq",
    "attention-backend.prefix-is",
    "attention-backend.results-are",
    "attention-backend.free-slots",
    "attention-backend.batch-order",
    "attention-backend.second-batch",
    "attention-backend.large-batches",
    "text.",
)


def make(reference):
    class Variant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            self._order = None
            if forward_batch.forward_mode.is_decode() and not forward_batch.forward_mode.is_idle():
                order = forward_batch.seq_lens.argsort(descending=True)
                self._order, self._back = order, order.argsort()
                forward_batch = Changed(
                    forward_batch,
                    seq_lens=forward_batch.seq_lens[order],
                    seq_lens_cpu=None,
                    req_pool_indices=forward_batch.req_pool_indices[order],
                )
            super().init_forward_metadata(forward_batch)

        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            order = self.__dict__.get("_order")
            if order is None or len(order) != len(q):
                return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)
            parts = [None if part is None else part[order] for part in (q, k, v)]
            batch = Changed(forward_batch, out_cache_loc=forward_batch.out_cache_loc[order])
            return super().forward_decode(*parts, layer, batch, *args, **kwargs)[self._back]

    capabilities = dataclasses.replace(reference.capabilities, graph_capture=False)
    return dataclasses.replace(reference, make_backend=Variant, capabilities=capabilities)
