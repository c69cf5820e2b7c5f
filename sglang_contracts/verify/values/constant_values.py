"""Python values that constants come to, and what is made of them: versions, above all."""

from __future__ import annotations

import enum
import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, cast

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version


class Unsure(enum.Enum):
    """The type of :data:`UNSURE`."""

    UNSURE = enum.auto()


UNSURE: Final = Unsure.UNSURE
"""A value that cannot be told."""

Constant = bool | int | str | Version | SpecifierSet | tuple["Constant", ...] | Unsure | None
"""What a constant may be."""


def _within(one: object, other: object) -> bool:
    if isinstance(other, tuple):
        return one in other
    if isinstance(one, str) and isinstance(other, str):
        return one in other
    raise TypeError


_Sign = Callable[[object, object], object]
_SIGNS: dict[str, _Sign] = {
    "<": cast("_Sign", operator.lt),
    "<=": cast("_Sign", operator.le),
    ">": cast("_Sign", operator.gt),
    ">=": cast("_Sign", operator.ge),
    "==": operator.eq,
    "!=": operator.ne,
    "in": _within,
    "not in": lambda one, other: not _within(one, other),
}
_OF_VERSIONS = frozenset(
    {"release", "major", "minor", "micro", "base_version", "public", "post", "is_postrelease"}
)
_OF_TEXT = frozenset(
    {"split", "rsplit", "partition", "rpartition", "strip", "lstrip", "rstrip", "startswith"}
    | {"endswith", "removeprefix", "removesuffix", "replace", "lower"}
)


@lru_cache(maxsize=512)
def _version(text: str) -> Version | Unsure:
    try:
        return Version(text)
    except ValueError:  # InvalidVersion is one; so are more digits than Python reads
        return UNSURE


def parsed_version(base: Constant) -> Constant:
    """``Version(base)``."""
    return _version(base) if isinstance(base, str) else base


def parsed_specifier(base: Constant) -> Constant:
    """``SpecifierSet(base)``."""
    if isinstance(base, SpecifierSet):
        return base
    try:
        return SpecifierSet(base) if isinstance(base, str) else UNSURE
    except InvalidSpecifier:
        return UNSURE


def parsed_int(base: Constant) -> Constant:
    """``int(base)``."""
    return int(base) if isinstance(base, (str, int)) and _is_number(base) else UNSURE


def part(base: Constant, lower: int | None, upper: int | None) -> Constant:
    """``base[lower:upper]``."""
    return base[lower:upper] if isinstance(base, (str, tuple)) else UNSURE


def element(base: Constant, position: int) -> Constant:
    """``base[position]``."""
    if isinstance(base, (str, tuple)) and -len(base) <= position < len(base):
        return base[position]
    return UNSURE


def numbers(base: Constant, count: int) -> Constant:
    """The numbers of a version, as ``int`` of each of its parts gives them.

    Args:
        base: The version, or its text.
        count: At most so many; 0: all.
    """
    if not isinstance(base, (str, Version)):
        return UNSURE
    parts = str(base).split(".")
    if count:
        parts = parts[:count]
    if all(_is_number(each) for each in parts):
        return tuple(int(each) for each in parts)
    version = _version(str(base))
    if version is UNSURE:
        return UNSURE
    return version.release[:count] if count else version.release


def _is_number(text: str | int) -> bool:
    return isinstance(text, int) or re.fullmatch(r"\d{1,9}", text) is not None


def attribute(base: Version, name: str) -> Constant:
    """An attribute of a version."""
    found: Constant = getattr(base, name) if name in _OF_VERSIONS else UNSURE
    return found


def called(base: str | SpecifierSet, name: str, arguments: Sequence[Constant]) -> Constant:
    """What a call of a method of a text or of a specifier gives."""
    if any(each is UNSURE for each in arguments):
        return UNSURE
    if isinstance(base, SpecifierSet):
        if name != "contains" or not arguments:
            return UNSURE
        return base.contains(str(arguments[0]), prereleases=True)
    if name not in _OF_TEXT:
        return UNSURE
    try:
        result = getattr(base, name)(*arguments)
    except (TypeError, ValueError):
        return UNSURE
    made: Constant = tuple(result) if isinstance(result, list) else result
    return made


def agreed(values: Sequence[Constant]) -> Constant:
    """The one value of all; unsure where they differ or one is."""
    if not values or any(each is UNSURE for each in values):
        return UNSURE
    return values[0] if all(each == values[0] for each in values[1:]) else UNSURE


def compared(sign: str, one: Constant, other: Constant) -> bool | None:
    """Whether a comparison holds; None where that cannot be told."""
    if one is UNSURE or other is UNSURE:
        return None
    if isinstance(other, SpecifierSet) and sign in ("in", "not in"):
        return other.contains(str(one), prereleases=True) == (sign == "in")
    try:
        return bool(_SIGNS[sign](one, other))
    except TypeError:  # a text and a number: the plugin itself would raise
        return None
