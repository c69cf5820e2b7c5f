"""How alike two names, definitions or places are."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from sglang_contracts.surface.model import Attribute, Class, Function, Kind
from sglang_contracts.surface.symbol import Symbol

_SPELLED_ALIKE = 0.6
"""Share of letters that two words have in common where one is taken for the other's new form."""
_WORD_LOST = 0.85
"""How alike two names are of which one lost a word."""
_VERSION = re.compile(r"v\d+|\d+")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")


@lru_cache(maxsize=16384)
def words(name: str) -> tuple[str, ...]:
    """The words of an identifier, lower case, without a plural's ending."""
    found = (each.lower() for each in _WORD.findall(name))
    return tuple(each[:-1] if len(each) > 3 and each.endswith("s") else each for each in found)


@lru_cache(maxsize=65536)  # the same pairs come again in each further release
def likeness(one: str, other: str) -> float:
    """How alike two identifiers are: shared words count more than shared letters."""
    ones, others = words(one), words(other)
    if not ones or not others:
        return 0.0
    shared = len(set(ones) & set(others))
    overlap = 2 * shared / (len(set(ones)) + len(set(others)))
    letters = difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio()
    return 0.6 * overlap + 0.4 * letters


def renamed_alike(name: str, other: str) -> bool:
    """Whether a name is another's spelling: what ``nsa_backend`` and ``dsa_backend`` are.

    The words are the same ones; or all but one, which is spelled alike; or it lost a word of many.
    A word more is none, but for a version: ``max_bs`` and ``max_bs_decode`` may be both there.
    """
    ones, others = words(name), words(other)
    if ones == others or (others[:-1] == ones and _VERSION.fullmatch(others[-1])):
        return True
    if len(ones) == len(others):
        differing = [pair for pair in zip(ones, others, strict=True) if pair[0] != pair[1]]
        return (
            len(ones) > 1
            and len(differing) == 1
            and difflib.SequenceMatcher(None, *differing[0]).ratio() >= _SPELLED_ALIKE
        )
    return set(others) < set(ones) and likeness(name, other) >= _WORD_LOST


def closest(name: str, others: Iterable[str], least: float) -> str | None:
    """The name most like another, if it is at least so alike."""
    best: tuple[float, str] | None = None
    for each in others:
        alike = likeness(name, each)
        if alike >= least and (best is None or alike > best[0]):
            best = (alike, each)
    return best[1] if best else None


def nearness(one: str, other: str) -> float:
    """How near two modules lie: the shared part of their paths, and a like last name."""
    ones, others = one.split("."), other.split(".")
    shared = 0
    for each, more in zip(ones, others, strict=False):
        if each != more:
            break
        shared += 1
    near = shared / max(len(ones), len(others))
    return near + 0.5 * likeness(ones[-1], others[-1])


def same_shape(one: Symbol, other: Symbol) -> float:
    """How alike two definitions are, from 0 to 1."""
    a, b = one.node, other.node
    if isinstance(a, Function) and isinstance(b, Function):
        names = [each.name for each in a.parameters]
        others = [each.name for each in b.parameters]
        if names == others:
            return 1.0 if len(names) > 1 else 0.5
        both = len(set(names) & set(others))
        return 0.8 * both / max(len(set(names) | set(others)), 1)
    if isinstance(a, Class) and isinstance(b, Class):
        ones = {*a.methods, *a.attributes}
        others_set = {*b.methods, *b.attributes}
        if a.kind & Kind.ENUM != b.kind & Kind.ENUM:
            return 0.0
        return len(ones & others_set) / max(len(ones | others_set), 1)
    if isinstance(a, Attribute) and isinstance(b, Attribute):
        if a.annotation and a.annotation == b.annotation:
            plain = a.annotation.removeprefix("Optional[").rstrip("]") in (
                "int",
                "bool",
                "str",
                "float",
                "torch.Tensor",
                "Any",
                "dict",
                "list",
            )
            return 0.5 if plain else 1.0
        return 0.0
    return 0.3 if type(a) is type(b) else 0.0


def neighbours(had: Sequence[str], lost: str, has: Sequence[str], other: str) -> bool:
    """Whether a new name stands where the lost one stood: next to one of its old neighbours."""
    if lost not in had or other not in has:
        return False
    at, now = had.index(lost), has.index(other)
    before = next((each for each in reversed(had[:at]) if each in has), None)
    after = next((each for each in had[at + 1 :] if each in has), None)
    near = has[max(0, now - 3) : now + 4]
    return (before is not None and before in near) or (after is not None and after in near)
