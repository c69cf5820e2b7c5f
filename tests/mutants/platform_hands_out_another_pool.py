"""The platform hands out another pool than the capabilities name."""

import dataclasses

from sglang_contracts.suite.served import platform_class

NAME = "The platform hands out another pool than the capabilities name"
KILLED_BY = "plugin.serves-what-it-declares"
RELEASES = ">=0.5.11"


def make(reference):
    class Pool(reference.kv_pool):
        pass

    class Mutant(platform_class(reference)):
        def get_mha_kv_pool_cls(self):
            return Pool

        def get_kv_pool_cls(self, *, kind):
            return Pool if kind == "mha" else None

    return dataclasses.replace(reference, platform=Mutant)
