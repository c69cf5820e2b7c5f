"""Metadata lie on the class, for all threads."""

import dataclasses

NAME = "Metadata lie on the class, for all threads"
KILLED_BY = "attention-backend.threads-keep-apart"


def make(reference):
    class Mutant(reference.make_backend):
        @property
        def forward_metadata(self):
            return Mutant.__dict__.get("_one")

        @forward_metadata.setter
        def forward_metadata(self, value):
            Mutant._one = value

    return dataclasses.replace(reference, make_backend=Mutant)
