"""The allocator does not remember its pool."""

import dataclasses

NAME = "The allocator does not remember its pool"
KILLED_BY = "allocator.says-what-it-is"


def make(reference):
    class Mutant(reference.allocator):
        def get_kvcache(self):
            return None

    return dataclasses.replace(reference, allocator=Mutant)
