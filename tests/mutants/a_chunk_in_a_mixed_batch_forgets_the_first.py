"""In a mixed batch a further chunk of a prompt does not see the chunks before."""

import dataclasses

NAME = "In a mixed batch a further chunk of a prompt does not see the chunks before"
KILLED_BY = "attention-backend.mixed-equals-the-oracle"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            if not forward_batch.forward_mode.is_mixed():
                return
            table = self.forward_metadata.block_tables
            for row, count in enumerate(forward_batch.extend_seq_lens_cpu):
                prefix = forward_batch.extend_prefix_lens_cpu[row]
                if count > 1 and prefix:  # a row of one token is a decode
                    table[row, : -(-prefix // self.page_size)] = 0

    return dataclasses.replace(reference, make_backend=Mutant)
