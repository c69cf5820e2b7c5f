"""init_backend() raises where SGLang calls it in each worker."""

import dataclasses

from sglang_contracts.suite.served import platform_class

NAME = "init_backend() raises where SGLang calls it in each worker"
KILLED_BY = "plugin.entry-points-run"
RELEASES = ">=0.5.11"


def make(reference):
    class Mutant(platform_class(reference)):
        def init_backend(self):
            raise RuntimeError("no kernel library")

    return dataclasses.replace(reference, platform=Mutant)
