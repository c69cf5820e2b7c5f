"""What differs between two forms of a frame, by name: decided once, when a release is recorded.

Who walks over releases looks again only at what is named here. Of a module: ``""`` for what it
exports and stars (all but its definitions), ``*`` for the names of its definitions and their
order, ``name`` for a definition (of a class: all but its members), ``Class.*`` and
``Class.member``. Of facts looked up over a release: the key they are looked up by.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from sglang_contracts.surface.lazy import (
    ClassParts,
    Corrupt,
    ModuleParts,
    class_parts,
    module_parts,
)
from sglang_contracts.surface.model import Flag

SERVER = ("sglang.srt.server_args", "sglang.srt.arg_groups")
"""Beginnings of the modules that register the server's flags."""
DIFFUSION = "sglang.multimodal_gen."
"""Beginning of the modules that register the diffusion server's."""
NAMES = "*"
HEADER = ""
FLAGS = msgspec.msgpack.Decoder(list[tuple[str, Flag]])
_DEFINITIONS = ("classes", "functions", "values", "imports")
_MEMBERS = ("attributes", "methods", "classes")
_TABLE = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])


def changes(frame: str, old: bytes, new: bytes, corrupt: Corrupt) -> tuple[str, ...]:
    """Names of what differs, sorted.

    Args:
        frame: Its name, which says what it holds.
        old: One form.
        new: The other.
        corrupt: The error to raise where one is none, from what is wrong with it.
    """
    try:
        if frame.startswith("m:"):
            found = set(_in_modules(module_parts(old, corrupt), module_parts(new, corrupt)))
        elif frame == "flags":
            was, now = (by_name(FLAGS.decode(each), diffusion=True) for each in (old, new))
            found = set(_differing(was, now))
        else:
            found = set(_differing(_TABLE.decode(old), _TABLE.decode(new)))
    except msgspec.MsgspecError as error:
        raise corrupt(str(error)) from None
    return tuple(sorted(found))


def by_name(
    flags: Iterable[tuple[str, Flag]], *, diffusion: bool = False
) -> dict[str, tuple[str, Flag]]:
    """Command-line flags by each of their spellings, each with the module that registers it.

    Args:
        flags: Every flag of a release, with its module.
        diffusion: Whether those of the diffusion server count, which are another program's.
    """
    found: dict[str, tuple[str, Flag]] = {}
    for module, flag in flags:
        if module.startswith(DIFFUSION) and not diffusion:
            continue
        # The server's own parser wins over a benchmark's flag of the same name.
        ours = module.startswith(SERVER)
        for name in flag.names:
            if name not in found or ours:
                found[name] = (module, flag)
    return found


def _in_modules(old: ModuleParts, new: ModuleParts) -> Iterable[str]:
    if _but(old, _DEFINITIONS) != _but(new, _DEFINITIONS):
        yield HEADER
    tables = [(getattr(old, each), getattr(new, each)) for each in _DEFINITIONS]
    if any(list(one) != list(other) for one, other in tables):
        yield NAMES
    for one, other in tables[1:]:
        yield from _differing(one, other)
    for name in _differing(*tables[0]):
        was, now = old.classes.get(name), new.classes.get(name)
        if was is None or now is None:
            yield name
        else:
            yield from _in_classes(name, class_parts(was), class_parts(now))


def _in_classes(name: str, old: ClassParts, new: ClassParts) -> Iterable[str]:
    if _but(old, _MEMBERS) != _but(new, _MEMBERS):
        yield name
    tables = [(getattr(old, each), getattr(new, each)) for each in _MEMBERS]
    if any(list(one) != list(other) for one, other in tables):
        yield f"{name}.{NAMES}"
    for one, other in tables:
        yield from (f"{name}.{member}" for member in _differing(one, other))


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    return (name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _but(parts: msgspec.Struct, tables: Collection[str]) -> list[object]:
    """All that a record says but for these of its fields."""
    return [getattr(parts, each) for each in parts.__struct_fields__ if each not in tables]
