"""A declining plugin sets a variable of the environment."""

import dataclasses
import os

NAME = "A declining plugin sets a variable of the environment"
KILLED_BY = "platform.declining-costs-nothing"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        found = reference.activate()
        if found is None:
            os.environ["KUNLUN_VISIBLE"] = "0"
        return found

    return dataclasses.replace(reference, activate=mutant)
