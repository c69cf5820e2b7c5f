"""Records read on demand: a module's bytes are cut at its names, and what is asked for is decoded.

A release has thousands of definitions in each few modules, of which a plugin stands on a handful.
The bytes of each stay at hand: of two releases they say which definitions are the same, undecoded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar, overload

import msgspec

from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Condition,
    Function,
    Import,
    Kind,
    Module,
    Value,
)

T = TypeVar("T")
D = TypeVar("D")
Raws = dict[str, msgspec.Raw]
Corrupt = Callable[[str], Exception]


class Definitions(Mapping[str, T], Generic[T]):
    """Definitions by name, in the order of the source; each is decoded when it is first asked for.

    Args:
        raws: The bytes of each.
        decode: Makes a definition of them.
        corrupt: The error to raise where the bytes are none, from what is wrong with them.
    """

    __slots__ = ("_corrupt", "_decode", "_decoded", "raws")

    def __init__(self, raws: Raws, decode: Callable[[msgspec.Raw], T], corrupt: Corrupt) -> None:
        self.raws = raws
        self._decode = decode
        self._corrupt = corrupt
        self._decoded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        found = self._decoded.get(name)
        if found is None:
            raw = self.raws[name]
            try:
                found = self._decoded[name] = self._decode(raw)
            except msgspec.MsgspecError as error:
                raise self._corrupt(f"{name}: {error}") from None
        return found

    @overload
    def get(self, name: str, /) -> T | None: ...
    @overload
    def get(self, name: str, /, default: T | D) -> T | D: ...
    def get(self, name: str, /, default: D | None = None) -> T | D | None:
        """The definition of that name; ``default`` where there is none."""
        return self[name] if name in self.raws else default

    def __contains__(self, name: object) -> bool:
        return name in self.raws

    def __iter__(self) -> Iterator[str]:
        return iter(self.raws)

    def __len__(self) -> int:
        return len(self.raws)


class ModuleParts(msgspec.Struct, array_like=True, gc=False):
    """A :class:`Module`, its definitions undecoded: the fields are the same, in the same order."""

    package: bool = False
    classes: Raws = {}
    functions: Raws = {}
    values: Raws = {}
    imports: Raws = {}
    stars: tuple[str, ...] = ()
    exports: tuple[str, ...] | None = None
    lazy: tuple[str, ...] | None = None
    problem: str = ""


class ClassParts(msgspec.Struct, array_like=True, gc=False):
    """A :class:`Class`, its members undecoded."""

    bases: tuple[str, ...] = ()
    kind: Kind = Kind(0)
    attributes: Raws = {}
    methods: Raws = {}
    classes: Raws = {}
    decorators: tuple[str, ...] = ()
    condition: Condition = Condition(0)


_MODULE = msgspec.msgpack.Decoder(ModuleParts)
_CLASS = msgspec.msgpack.Decoder(ClassParts)
_function = msgspec.msgpack.Decoder(Function).decode
_attribute = msgspec.msgpack.Decoder(Attribute).decode
_value = msgspec.msgpack.Decoder(Value).decode
_import = msgspec.msgpack.Decoder(Import).decode


def module_parts(raw: bytes, corrupt: Corrupt) -> ModuleParts:
    """A recorded module cut at its names; see :func:`read_module` for the arguments."""
    try:
        return _MODULE.decode(raw)
    except msgspec.MsgspecError as error:
        raise corrupt(str(error)) from None


def class_parts(raw: msgspec.Raw) -> ClassParts:
    """A class of it, cut at the names of its members.

    Raises:
        msgspec.MsgspecError: The bytes are none.
    """
    return _CLASS.decode(raw)


def read_module(raw: bytes, corrupt: Corrupt) -> Module:
    """A recorded module.

    Args:
        raw: Its bytes.
        corrupt: The error to raise where they are none, from what is wrong with them: now, or when
            the definition is asked for that is damaged.
    """
    found = module_parts(raw, corrupt)
    return Module(
        found.package,
        Definitions(found.classes, functools.partial(_read_class, corrupt), corrupt),
        Definitions(found.functions, _function, corrupt),
        Definitions(found.values, _value, corrupt),
        Definitions(found.imports, _import, corrupt),
        found.stars,
        found.exports,
        found.lazy,
        found.problem,
    )


def _read_class(corrupt: Corrupt, raw: msgspec.Raw) -> Class:
    found = class_parts(raw)
    return Class(
        found.bases,
        found.kind,
        Definitions(found.attributes, _attribute, corrupt),
        Definitions(found.methods, _function, corrupt),
        Definitions(found.classes, functools.partial(_read_class, corrupt), corrupt),
        found.decorators,
        found.condition,
    )
