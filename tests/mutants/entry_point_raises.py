"""A name that the entry point imports is gone."""

import dataclasses

NAME = "A name that the entry point imports is gone"
KILLED_BY = "plugin.entry-points-run"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.platforms.interface import OutOfTreePlatform

        return OutOfTreePlatform.__name__

    return dataclasses.replace(reference, activate=mutant)
