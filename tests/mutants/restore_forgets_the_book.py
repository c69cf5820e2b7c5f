"""restore_state takes the pages back, and the book of what is out goes on naming them."""

import dataclasses

NAME = "restore_state takes the pages back, but not in the book of what is out"
KILLED_BY = "allocator.restore-takes-back"
RELEASES = "<0.5.17"


def make(reference):
    class Mutant(reference.allocator):
        def restore_state(self, state):
            kept = self._out.clone()
            super().restore_state(state)
            self._out.copy_(kept)

    return dataclasses.replace(reference, allocator=Mutant)
