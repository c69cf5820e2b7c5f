"""restore_state takes back the free pages, and not those that waited to be sorted in."""

import dataclasses

NAME = "restore_state takes back the free pages, and not those that waited to be sorted in"
KILLED_BY = "allocator.restore-takes-back"
RELEASES = "<0.5.17"


def make(reference):
    class Mutant(reference.allocator):
        def restore_state(self, state):
            waiting = self.release_pages
            super().restore_state(state)
            self.release_pages = waiting

    return dataclasses.replace(reference, allocator=Mutant)
