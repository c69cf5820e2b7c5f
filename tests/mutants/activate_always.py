"""activate() names the platform without looking for the runtime."""

import dataclasses

NAME = "activate() names the platform without looking for the runtime"
KILLED_BY = "platform.declines-without-its-runtime"
RELEASES = ">=0.5.11"


def make(reference):
    name = reference.activate()

    def mutant():
        return name

    return dataclasses.replace(reference, activate=mutant)
