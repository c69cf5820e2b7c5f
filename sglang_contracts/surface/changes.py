"""What differs between two forms of a frame, by name: decided once, when a release is recorded.

Who walks over releases looks again only at what is named here. Of a module: ``""`` for what it
exports and stars (all but its definitions), ``*`` for the names of its definitions and their
order, ``name`` for a definition (of a class: all but its members), ``Class.*`` and
``Class.member``. Of facts looked up over a release: the key they are looked up by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from sglang_contracts.surface.lazy import Corrupt, raws_of, read_module
from sglang_contracts.surface.model import Class, Flag, Module

SERVER = ("sglang.srt.server_args", "sglang.srt.arg_groups")
"""Beginnings of the modules that register the server's flags."""
NAMES = "*"
HEADER = ""
FLAGS = msgspec.msgpack.Decoder(list[tuple[str, Flag]])
_TABLE = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])


def changes(frame: str, old: bytes, new: bytes, corrupt: Corrupt) -> tuple[str, ...]:
    """Names of what differs, sorted.

    Args:
        frame: Its name, which says what it holds.
        old: One form.
        new: The other.
        corrupt: The error to raise where one is none, from what is wrong with it.
    """
    if frame.startswith("m:"):
        found = set(_in_modules(read_module(old, corrupt), read_module(new, corrupt)))
    elif frame == "flags":
        found = set(_differing(by_name(FLAGS.decode(old)), by_name(FLAGS.decode(new))))
    else:
        found = set(_differing(_TABLE.decode(old), _TABLE.decode(new)))
    return tuple(sorted(found))


def by_name(flags: Iterable[tuple[str, Flag]]) -> dict[str, tuple[str, Flag]]:
    """Command-line flags by each of their spellings, each with the module that registers it."""
    found: dict[str, tuple[str, Flag]] = {}
    for module, flag in flags:
        # The server's own parser wins over a benchmark's flag of the same name.
        ours = module.startswith(SERVER)
        for name in flag.names:
            if name not in found or ours:
                found[name] = (module, flag)
    return found


def _in_modules(old: Module, new: Module) -> Iterable[str]:
    if _but_definitions(old) != _but_definitions(new):
        yield HEADER
    tables = [
        (raws_of(getattr(old, each)), raws_of(getattr(new, each)))
        for each in ("classes", "functions", "values", "imports")
    ]
    if any(list(one) != list(other) for one, other in tables):
        yield NAMES
    for one, other in tables[1:]:
        yield from _differing(one, other)
    for name in _differing(*tables[0]):
        was, now = old.classes.get(name), new.classes.get(name)
        if was is None or now is None:
            yield name
        else:
            yield from _in_classes(name, was, now)


def _in_classes(name: str, old: Class, new: Class) -> Iterable[str]:
    if _but_members(old) != _but_members(new):
        yield name
    tables = [
        (raws_of(getattr(old, each)), raws_of(getattr(new, each)))
        for each in ("attributes", "methods", "classes")
    ]
    if any(list(one) != list(other) for one, other in tables):
        yield f"{name}.{NAMES}"
    for one, other in tables:
        yield from (f"{name}.{member}" for member in _differing(one, other))


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    return (name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _but_definitions(module: Module) -> tuple[object, ...]:
    return (module.package, module.stars, module.exports, module.lazy, module.problem)


def _but_members(found: Class) -> tuple[object, ...]:
    return (found.bases, found.kind, found.decorators, found.condition)
