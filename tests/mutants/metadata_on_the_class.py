"""The batch's metadata are kept on the class: two model runners share them."""

import dataclasses

NAME = "The batch's metadata are kept on the class: two model runners share them"
KILLED_BY = "attention-backend.two-backends-keep-apart"


def make(reference):
    class Mutant(reference.make_backend):
        @property
        def forward_metadata(self):
            return Mutant.__dict__.get("_shared")

        @forward_metadata.setter
        def forward_metadata(self, value):
            Mutant._shared = value

    return dataclasses.replace(reference, make_backend=Mutant)
