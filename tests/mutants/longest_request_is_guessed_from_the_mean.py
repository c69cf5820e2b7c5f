"""Pages are fetched for eight times the mean length, and no more."""

import dataclasses

NAME = "Pages are fetched for eight times the mean length, and no more"
KILLED_BY = "attention-backend.forty-thousand-keys-are-attended"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            if not forward_batch.forward_mode.is_decode() or forward_batch.forward_mode.is_idle():
                return
            lens = forward_batch.seq_lens
            most = 8 * int(lens.sum()) // len(lens) + 64
            short = lens.clamp(max=most).to(self.forward_metadata.context_lens.dtype)
            self.forward_metadata.context_lens.copy_(short)

    return dataclasses.replace(reference, make_backend=Mutant)
