"""Symbolic values of a plugin and one release → what they are there.

A value is a tuple of alternatives, each a tagged tuple; an empty one is unknown.

=========== ======================= ==========================================
tag         holds                   is
=========== ======================= ==========================================
module      name                    a module or package of the release
class       symbol                  a class object
object      symbol, exact           an instance (exact: of that very class; None: or of one beside)
function    symbol, bound           a function; bound: its first parameter is given
list dict   value                   a container
tuple       values                  a tuple of known length
literal     kind                    a builtin
own-module  name                    a module of the plugin
own-class   file, qual              a class of the plugin
own-object  file, qual              an instance of one
own-func    file, index, bound      a function of the plugin
super       file, qual              ``super()``
=========== ======================= ==========================================
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sglang_contracts.surface.symbol import Symbol

Alternative = tuple[Any, ...]

Node = tuple[int, int]


def is_weak(name: str) -> bool:
    """A name that could be anything: one plain word, such as ``batch``, ``mode``, ``req``.

    A finding never rests on one unless a second attribute agrees.
    """
    return "_" not in name.strip("_")


class Value(NamedTuple):
    """Alternatives, and the conventional name they rest on (empty: none)."""

    alternatives: tuple[Alternative, ...] = ()
    named: str = ""


NOTHING = Value()


_ROOM = 256
"""Values that one may hold: those of real code hold a handful."""


def holding(kind: str, *held: Value) -> Value:
    """A container of values.

    One that holds too many, in all its levels, is unknown: values are compared by what they hold,
    and a few functions that each return a pair of the next one's results would hold millions.

    Args:
        kind: ``list`` and ``dict``, of one value; ``tuple``, of one for each element.
        held: What it holds.
    """
    if _room_left(held, _ROOM) < 0:
        return NOTHING
    return Value(((kind, held if kind == "tuple" else held[0]),))


def _room_left(values: tuple[Value, ...], room: int) -> int:
    for value in values:
        room -= 1
        for each in value.alternatives:
            if room < 0:
                return room
            if each[0] == "tuple":
                room = _room_left(each[1], room)
            elif each[0] in ("list", "dict"):
                room = _room_left(each[1:], room)
    return room


class Look(NamedTuple):
    """An attribute of a value: what it is, or who lacks it."""

    value: Value
    found: tuple[Symbol, ...] = ()
    lost: tuple[Symbol, ...] = ()
    """Classes and modules that lack it, if all alternatives do."""
