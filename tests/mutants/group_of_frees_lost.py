"""What is freed in a group is lost but for the last."""

import dataclasses

NAME = "What is freed in a group is lost but for the last"
KILLED_BY = "allocator.free-group-is-one-free"


def make(reference):
    class Mutant(reference.allocator):
        def free_group_begin(self):
            super().free_group_begin()
            self._grouped = True

        def free_group_end(self):
            super().free_group_end()
            self._grouped = False

        def free(self, free_index):
            if self.__dict__.get("_grouped") and self.__dict__.get("_seen"):
                return
            self._seen = self.__dict__.get("_grouped", False)
            super().free(free_index)

    return dataclasses.replace(reference, allocator=Mutant)
