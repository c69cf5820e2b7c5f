"""activate() gives the class without its module."""

import dataclasses

NAME = "activate() gives the class without its module"
KILLED_BY = "platform.activates-with-its-runtime"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        name = reference.activate()
        return name and "sglang_kunlun_platform." + name.rpartition(".")[2]

    return dataclasses.replace(reference, activate=mutant)
