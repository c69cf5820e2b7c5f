"""activate() names a class that its module does not have."""

import dataclasses

NAME = "activate() names a class that its module does not have"
KILLED_BY = "platform.activates-with-its-runtime"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        found = reference.activate()
        return f"{found}V2" if found else found

    return dataclasses.replace(reference, activate=mutant)
