"""A request's pages are remembered by its pool row, also for the row's next owner."""

import dataclasses

NAME = "A request's pages are remembered by its pool row, also for the row's next owner"
KILLED_BY = "text.twenty-requests-keep-their-own"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            kept = self.__dict__.setdefault("_kept", {})
            tables = getattr(self.forward_metadata, "block_tables", None)
            if tables is None:
                return
            for index, row in enumerate(forward_batch.req_pool_indices.tolist()):
                if index < len(tables) and row in kept:
                    tables[index, 0] = kept[row]
                elif index < len(tables):
                    kept[row] = tables[index, 0].clone()

    return dataclasses.replace(reference, make_backend=Mutant)
