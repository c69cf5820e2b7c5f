"""Decode metadata take a launch for every page of the longest request."""

import dataclasses

NAME = "Decode metadata take a launch for every page of the longest request"
KILLED_BY = "decode.cost-is-steady"


def make(reference):
    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            super().init_forward_metadata(forward_batch)
            if forward_batch.forward_mode.is_decode():
                table = self.forward_metadata.block_tables
                for column in range(table.shape[1]):
                    table[:, column].clamp_(min=0)

    return dataclasses.replace(reference, make_backend=Mutant)
