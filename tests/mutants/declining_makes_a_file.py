"""A declining plugin makes a file."""

import dataclasses
import tempfile
from pathlib import Path

NAME = "A declining plugin makes a file"
KILLED_BY = "platform.declining-costs-nothing"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        found = reference.activate()
        if found is None:
            Path(tempfile.mkdtemp(), "probe").touch()
        return found

    return dataclasses.replace(reference, activate=mutant)
