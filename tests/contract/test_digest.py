"""Digests on a hand-made release: what a clause names enters, the rest does not."""

import msgspec
import pytest

from sglang_contracts.contract.digest import digest
from sglang_contracts.contract.load import parse_contract
from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Flag,
    Function,
    Module,
    Parameter,
    ParameterKind,
    Value,
)
from sglang_contracts.surface.surface import Surface

TEXT = """\
[contract]
id = "pool"
title = "t"
target = "sglang.srt.m:Pool"
provider = "sglang"
consumer = "backend"
sglang = ">=0.5"
[fields.size]
[methods.write]
[flags."--x"]
[flag_values."--x(a)"]
[environment.SGLANG_X]
[registries.key]
symbol = "sglang.srt.m:TABLE"
[obligations.pool]
receivers = "backend"
[behaviours.b]
sglang = ">=0.5.4"
now = "n"
on = { symbol = "sglang.srt.m:Pool.write", role = "caller" }
"""
CONTRACT = parse_contract(TEXT, "pool.toml")


class Release(Surface):
    def __init__(self, module, flags=None, environment=None, readers=None, release="0.5.3"):
        super().__init__(None, release)
        self._module = module
        self._flags = flags or {}
        self._environment = environment or {}
        self._readers = readers or {}

    def module(self, name):
        return self._module if name == "sglang.srt.m" else None

    def module_names(self):
        return frozenset({"sglang.srt.m"})

    @staticmethod
    def covers(name):
        return True

    def flags(self):
        return self._flags

    def variable(self, name):
        return self._environment.get(name)

    def readers(self, receiver):
        return self._readers if receiver == "backend" else {}


def function(*names):
    found = (Parameter("self", ParameterKind.POSITIONAL), *(Parameter(name) for name in names))
    return Function(parameters=found)


def module(write=None, size="int", other="", keys=("key",)):
    pool = Class(
        attributes={"size": Attribute(annotation=size), "other": Attribute(annotation=other)},
        methods={"write": write or function("loc")},
    )
    return Module(classes={"Pool": pool}, values={"TABLE": Value(value="{}", keys=keys)})


BASE = digest([CONTRACT], Release(module()))


def test_equal_releases_have_equal_digests_whatever_their_number():
    assert digest([CONTRACT], Release(module(), release="0.5.2")) == BASE
    assert len(BASE) == 64


def test_members_that_no_clause_names_do_not_enter():
    assert digest([CONTRACT], Release(module(other="str"))) == BASE


@pytest.mark.parametrize(
    "release",
    [
        Release(module(write=function("loc_info"))),
        Release(module(size="float")),
        Release(module(keys=())),
        Release(msgspec.structs.replace(module(), classes={})),
        Release(module(), flags={"--x": Flag(("--x",), choices="['a']")}),
        Release(module(), environment={"SGLANG_X": ""}),
        Release(module(), readers={"pool": ("sglang.srt.n",)}),
        Release(module(), release="0.5.4"),
    ],
    ids=["signature", "annotation", "key", "class", "flag", "variable", "obligation", "behaviour"],
)
def test_whatever_a_clause_names_enters(release):
    assert digest([CONTRACT], release) != BASE
