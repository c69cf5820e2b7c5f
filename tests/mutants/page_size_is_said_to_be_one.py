"""The pool says that its pages have one slot."""

import dataclasses

NAME = "The pool says that its pages have one slot"
KILLED_BY = "kv-pool.says-what-it-is"


def make(reference):
    class Mutant(reference.kv_pool):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._true_page, self.page_size = self.page_size, 1

    return dataclasses.replace(reference, kv_pool=Mutant)
