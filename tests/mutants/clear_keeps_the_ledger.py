"""clear() keeps the ledger of what is out."""

import dataclasses

NAME = "clear() keeps the ledger of what is out"
KILLED_BY = "allocator.double-free-is-refused"


def make(reference):
    class Mutant(reference.allocator):
        def clear(self):
            kept = self.__dict__.get("_out")
            super().clear()
            if kept is not None:
                self._out = kept

    return dataclasses.replace(reference, allocator=Mutant)
