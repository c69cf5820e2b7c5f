"""activate() raises where the runtime is missing."""

import dataclasses

NAME = "activate() raises where the runtime is missing"
KILLED_BY = "platform.declines-without-its-runtime"


def make(reference):
    def mutant():
        import torch_xmlir  # noqa: F401

        return reference.activate()

    return dataclasses.replace(reference, activate=mutant)
