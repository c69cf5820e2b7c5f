"""Slots that are freed twice within a group come back twice."""

import dataclasses

NAME = "Slots that are freed twice within a group come back twice"
KILLED_BY = "allocator.double-free-is-refused"


def make(reference):
    class Mutant(reference.allocator):
        def free_group_end(self):
            owned = self._out.clone()
            group, self.free_group = self.free_group, None
            for slots in group or ():
                self._out.copy_(owned)
                self._deferring = False
                self.is_not_in_free_group = True
                self.free(slots)
            self._deferring = False

    return dataclasses.replace(reference, allocator=Mutant)
