"""What a value of the plugin may be in one release: one struct for each kind of thing.

A :class:`Value` holds alternatives, of which it is one; without any it is unknown.

Equal alternatives are never made one object: :class:`~sglang_contracts.surface.symbol.Symbol` is
compared by its name alone, and the same name stands for another definition in another release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from sglang_contracts.surface.symbol import Symbol

Place = tuple[int, int]
"""A node of the plugin: index of its file, and of the node in that file."""


class _Thing(msgspec.Struct, frozen=True, gc=False):
    """What all alternatives have in common: they are compared by what they hold."""


class ModuleRef(_Thing, frozen=True):
    """A module or package of the release."""

    name: str


class ClassRef(_Thing, frozen=True):
    """A class of the release."""

    symbol: Symbol


class ObjectOf(_Thing, frozen=True):
    """An instance of a class of the release."""

    symbol: Symbol
    exact: bool | None
    """True: of that very class; False: of it or one derived from it; None: or of one beside it."""


class FunctionRef(_Thing, frozen=True):
    """A function or method of the release."""

    symbol: Symbol
    bound: bool
    """Whether its first parameter is given."""


class ListValue(_Thing, frozen=True):
    """A container of such elements."""

    element: Value


class DictValue(_Thing, frozen=True):
    """A mapping to such values."""

    element: Value


class TupleValue(_Thing, frozen=True):
    """A tuple of known length."""

    elements: tuple[Value, ...]


class Builtin(_Thing, frozen=True):
    """A value of a builtin type, or ``None``, ``true``, ``false``."""

    kind: str
    """As :attr:`sglang_contracts.plugin.ir.nodes.Literal.kind`."""


class OwnModuleRef(_Thing, frozen=True):
    """A module of the plugin."""

    name: str


class OwnClassRef(_Thing, frozen=True):
    """A class of the plugin."""

    file: int
    qual: str


class OwnObject(_Thing, frozen=True):
    """An instance of a class of the plugin."""

    file: int
    qual: str


class OwnSuper(_Thing, frozen=True):
    """``super()`` inside a class of the plugin."""

    file: int
    qual: str


class OwnFunctionRef(_Thing, frozen=True):
    """A function or method of the plugin."""

    file: int
    function: int
    """Index into :attr:`sglang_contracts.plugin.ir.records.File.functions`."""
    bound: bool
    """Whether its first parameter is given."""


Alternative = (
    ModuleRef
    | ClassRef
    | ObjectOf
    | FunctionRef
    | ListValue
    | DictValue
    | TupleValue
    | Builtin
    | OwnModuleRef
    | OwnClassRef
    | OwnObject
    | OwnSuper
    | OwnFunctionRef
)
"""One thing that a value may be."""

NONE = Builtin("None")
"""``None``."""


class Value(NamedTuple):
    """Alternatives, and the conventional name they rest on (empty: none)."""

    alternatives: tuple[Alternative, ...] = ()
    named: str = ""

    def is_none(self) -> bool:
        """Whether it is ``None`` and nothing else."""
        return self.alternatives == (NONE,)


NOTHING = Value()
"""An unknown value."""


class Look(NamedTuple):
    """An attribute of a value: what it is, or who lacks it."""

    value: Value
    found: tuple[Symbol, ...] = ()
    lost: tuple[Symbol, ...] = ()
    """Classes and modules that lack it, if all alternatives do."""


_ROOM = 256
"""Values that one may hold: those of real code hold a handful."""


def one(alternative: Alternative) -> Value:
    """The value that is certainly this."""
    return Value((alternative,))


def union(values: Iterable[Value]) -> Value:
    """One of several; unknown if one is."""
    alternatives: dict[Alternative, None] = {}
    named = ""
    for value in values:
        if not value.alternatives:
            return NOTHING
        named = named or value.named
        alternatives.update(dict.fromkeys(value.alternatives))
    return Value(tuple(alternatives), named)


def list_of(element: Value) -> Value:
    """A container of such elements; unknown, if it holds too many in all its levels."""
    return one(ListValue(element)) if _room_left((element,), _ROOM) >= 0 else NOTHING


def dict_of(element: Value) -> Value:
    """A mapping to such values; unknown, if it holds too many in all its levels."""
    return one(DictValue(element)) if _room_left((element,), _ROOM) >= 0 else NOTHING


def tuple_of(elements: Sequence[Value]) -> Value:
    """A tuple of just these; unknown, if it holds too many in all its levels.

    Values are compared by what they hold, and a few functions that each return a pair of the next
    one's results would hold millions.
    """
    held = tuple(elements)
    return one(TupleValue(held)) if _room_left(held, _ROOM) >= 0 else NOTHING


def _room_left(values: tuple[Value, ...], room: int) -> int:
    for value in values:
        room -= 1
        for each in value.alternatives:
            if room < 0:
                return room
            if type(each) is TupleValue:
                room = _room_left(each.elements, room)
            elif type(each) is ListValue or type(each) is DictValue:
                room = _room_left((each.element,), room)
    return room


def is_weak(name: str) -> bool:
    """Whether a name could be anything: one plain word, such as ``batch``, ``mode``, ``req``.

    A finding never rests on one unless a second attribute agrees.
    """
    return "_" not in name.strip("_")
