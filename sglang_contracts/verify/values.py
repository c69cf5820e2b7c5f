"""Symbolic values of a plugin and one release → what they are there.

A value is a tuple of alternatives, each a tagged tuple; an empty one is unknown.

=========== ======================= ==========================================
tag         holds                   is
=========== ======================= ==========================================
module      name                    a module or package of the release
class       symbol                  a class object
object      symbol, exact           an instance (exact: of that very class)
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

from packaging.version import Version

from sglang_contracts.surface.resolve import Symbol

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


class Look(NamedTuple):
    """An attribute of a value: what it is, or who lacks it."""

    value: Value
    found: tuple[Symbol, ...] = ()
    lost: tuple[Symbol, ...] = ()
    """Classes and modules that lack it, if all alternatives do."""


def compare_release(release: str, sign: str, form: str, constant: str) -> bool | None:
    """Compare a release with a constant: as parsed versions, as text, or as a tuple of numbers."""
    try:
        here, there = Version(release), Version(constant)
    except ValueError:  # InvalidVersion is one; so are more digits than Python reads
        return None
    if form == "tuple":
        length = len(constant.split("."))
        one = (here.release + (0,) * length)[: max(length, len(here.release))]
        return _compare(sign, one, there.release)
    if form == "text":
        return _compare(sign, release, constant)
    return _compare(sign, here, there)


def _compare(sign: str, one: Any, other: Any) -> bool:
    return bool(
        {
            "<": one < other,
            "<=": one <= other,
            ">": one > other,
            ">=": one >= other,
            "==": one == other,
            "!=": one != other,
        }[sign]
    )
