"""restore_state() takes nothing back."""

import dataclasses

NAME = "restore_state() takes nothing back"
KILLED_BY = "allocator.restore-takes-back"
RELEASES = "<0.5.17"


def make(reference):
    class Mutant(reference.allocator):
        def restore_state(self, state):
            pass

    return dataclasses.replace(reference, allocator=Mutant)
