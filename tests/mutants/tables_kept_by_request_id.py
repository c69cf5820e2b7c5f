"""A request's pages are remembered by its id, also when it comes back after a retraction."""

import dataclasses

NAME = "A request's pages are remembered by its id, also when it comes back after a retraction"
KILLED_BY = "attention-backend.retracted-requests-start-anew"
RELEASES = ">=0.5.11"  # a batch names its requests since


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            metadata, kept = self.forward_metadata, self.__dict__.setdefault("_kept", {})
            if metadata is None or not forward_batch.forward_mode.is_decode():
                return
            for row, rid in enumerate(forward_batch.rids):
                table = metadata.block_tables[row]
                if rid in kept:
                    count = min(len(kept[rid]), len(table))
                    table[:count] = kept[rid][:count]
                pages = -(-int(metadata.context_lens_cpu[row]) // self.page_size)
                kept[rid] = table[:pages].clone()

    return dataclasses.replace(reference, make_backend=Mutant)
