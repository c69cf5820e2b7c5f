"""Captured layers write to slots that no replay refreshes."""

import dataclasses

import torch

from sglang_contracts.suite.mutants import Changed

NAME = "Captured layers write to slots that no replay refreshes"
KILLED_BY = "graph.replay-writes-the-new-slots"


def make(reference):
    class Mutant(reference.make_backend):
        def _freeze(self, size):
            self._slots = torch.zeros(size, dtype=torch.int64, device=self.device)

        def init_forward_metadata(self, forward_batch):
            self._slots = None
            super().init_forward_metadata(forward_batch)

        def init_forward_metadata_out_graph(self, forward_batch, in_capture=False):
            super().init_forward_metadata_out_graph(forward_batch, in_capture)
            if in_capture:
                self._freeze(forward_batch.batch_size)

        def init_forward_metadata_capture_cuda_graph(self, bs, *args, **kwargs):
            super().init_forward_metadata_capture_cuda_graph(bs, *args, **kwargs)
            self._freeze(bs)

        def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
            if self._slots is not None:
                forward_batch = Changed(forward_batch, out_cache_loc=self._slots)
            return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
