"""Decode metadata are kept by the batch's rows and lengths."""

import dataclasses

NAME = "Decode metadata are kept by the batch's rows and lengths"
KILLED_BY = "attention-backend.retracted-requests-start-anew"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            kept = self.__dict__.setdefault("_kept", {})
            rows, lens = forward_batch.req_pool_indices.tolist(), forward_batch.seq_lens.tolist()
            key = tuple(rows), tuple(lens)
            known = forward_batch.forward_mode.is_decode() and key in kept
            super().init_forward_metadata(forward_batch)
            if known:
                self.forward_metadata = kept[key]
            elif forward_batch.forward_mode.is_decode():
                made = {name: each.clone() for name, each in vars(self.forward_metadata).items()}
                kept[key] = type(self.forward_metadata)(**made)

    return dataclasses.replace(reference, make_backend=Mutant)
