"""The frames of a release: how modules and the facts looked up by name are laid out in a pack."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

import msgspec

from sglang_contracts.surface.kept import RecordId
from sglang_contracts.surface.model import Call, Class, Flag, Module, Usage
from sglang_contracts.surface.store import Pack
from sglang_contracts.surface.wheel import covered

SHARDS = 16
"""Facts that are looked up by name over a release lie in this many frames of each kind: fewer
compress better (64 would cost a fifth more a release), more are quicker to look one name up in."""

Decoder: TypeAlias = "msgspec.msgpack.Decoder[Any]"
SHARD = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
"""An entry is decoded when it is asked for."""
CALLS = msgspec.msgpack.Decoder(dict[str, tuple[Call, ...]])
MODULES = msgspec.msgpack.Decoder(dict[str, tuple[str, ...]])
PLACES = msgspec.msgpack.Decoder(tuple[str, ...])
REGISTRATIONS = msgspec.msgpack.Decoder(dict[str, dict[str, tuple[str, ...]]])
VARIABLES = msgspec.msgpack.Decoder(dict[str, str])

_ENCODER = msgspec.msgpack.Encoder()
_SORTED = msgspec.msgpack.Encoder(order="deterministic")


class Frames(Protocol):
    """Where the frames of releases are found: a :class:`~.catalog.Catalog`."""

    def pack(self, release: str) -> Pack:
        """All that is recorded of one release."""

    def locate(self, release: str, name: str) -> RecordId | None:
        """Where a release's frame lies; None where it has none of that name."""

    def frame_names(self, release: str) -> frozenset[str]:
        """Names of all frames of a release."""

    def module(self, record: RecordId) -> Module:
        """A module's record."""

    def decoded(self, record: RecordId, decoder: Decoder) -> Any:
        """A frame, decoded."""

    def fact(self, release: str, frame: str, key: str) -> msgspec.Raw | None:
        """One entry of a frame, undecoded."""


def shard(name: str) -> int:
    """The shard in which a name's facts lie."""
    return zlib.crc32(name.encode()) % SHARDS


def encode(value: object) -> bytes:
    """The bytes a value is recorded as: the same value, the same bytes.

    Dicts keep the order of the source: that of fields is part of an interface.
    """
    return _ENCODER.encode(value)


def frames(modules: Mapping[str, tuple[Module, Usage]]) -> dict[str, bytes]:
    """The frames of a release: one for each module, and the facts looked up by name in shards."""
    beside = {name: usage for name, (_, usage) in modules.items() if not covered(name)}
    modules = {name: each for name, each in modules.items() if name not in beside}
    called: list[dict[str, dict[str, tuple[Call, ...]]]] = [{} for _ in range(SHARDS)]
    reads: list[dict[str, dict[str, list[str]]]] = [{} for _ in range(SHARDS)]
    out = {f"m:{name}": encode(module) for name, (module, _) in modules.items()}
    names: list[dict[str, list[str]]] = [{} for _ in range(SHARDS)]
    environment: dict[str, str] = {}
    flags: list[tuple[str, Flag]] = []
    registrations: dict[str, dict[str, list[str]]] = defaultdict(dict)
    places = _places((name, module) for name, (module, _) in modules.items())
    for name in sorted(places):
        names[shard(name)][name] = sorted(places[name])
    for module_name in sorted(modules):
        usage = modules[module_name][1]
        for callee, forms in usage.calls.items():
            if callee in places:  # what SGLang does not define is none of its interfaces
                called[shard(callee)].setdefault(callee, {})[module_name] = forms
        for suffix, facts in (("", usage.reads), ("=", usage.writes)):
            for receiver, attributes in facts.items():
                table = reads[shard(receiver.rstrip("?"))].setdefault(receiver + suffix, {})
                for attribute in attributes:
                    table.setdefault(attribute, []).append(module_name)
        for variable, instead in usage.environment.items():
            if instead or variable not in environment:
                environment[variable] = instead
        flags += [(module_name, flag) for flag in usage.flags]
        for function, keys in usage.registrations.items():
            for key in keys:
                registrations[function].setdefault(key, []).append(module_name)
    for name in sorted(beside):  # of what is not recorded itself: its command-line flags alone
        flags += [(name, flag) for flag in beside[name].flags]
    for index in range(SHARDS):
        out[f"c:{index}"] = _SORTED.encode(called[index])
        out[f"r:{index}"] = _SORTED.encode(reads[index])
        out[f"n:{index}"] = _SORTED.encode(names[index])
    out["environment"] = _SORTED.encode(environment)
    out["flags"] = _SORTED.encode(flags)
    out["registrations"] = _SORTED.encode(registrations)
    return out


def _places(modules: Iterable[tuple[str, Module]]) -> dict[str, set[str]]:
    """Name → where it is defined: ``module`` at top level, ``module:Class`` for a member."""
    places: dict[str, set[str]] = defaultdict(set)

    def members(where: str, found: Class) -> None:
        for member in (*found.methods, *found.attributes):
            places[member].add(where)
        for name, inner in found.classes.items():
            places[name].add(where)
            members(f"{where}.{name}", inner)

    for module_name, module in modules:
        for name in (*module.classes, *module.functions, *module.values):
            places[name].add(module_name)
        for name, found in module.classes.items():
            members(f"{module_name}:{name}", found)
    return places
