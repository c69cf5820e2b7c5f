"""After an idle batch a decode sees one key."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "After an idle batch a decode sees one key"
KILLED_BY = "attention-backend.idle-passes-leave-nothing-behind"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            idle = forward_batch.forward_mode.is_idle()
            if self.__dict__.get("_was_idle") and forward_batch.forward_mode.is_decode():
                one = forward_batch.seq_lens.clamp(max=1)
                forward_batch = Changed(
                    forward_batch,
                    seq_lens=one,
                    seq_lens_cpu=forward_batch.seq_lens_cpu.clamp(max=1),
                )
            self._was_idle = idle
            super().init_forward_metadata(forward_batch)

    return dataclasses.replace(reference, make_backend=Mutant)
