"""What a class of a release is, as far as the tools of ``dataclasses`` and ``msgspec`` ask."""

from __future__ import annotations

from collections.abc import Iterable

from sglang_contracts.surface.model import Class, Kind
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.values.value import Alternative, ClassRef, ObjectOf

DATACLASS, STRUCT, DICT = "__dataclass_fields__", "__struct_fields__", "__dict__"
"""The attribute by which a class is one of the kind: it is no member of the class as written."""

NAMES = frozenset({DATACLASS, STRUCT, DICT})

_PLAIN = frozenset({"object", "Generic", "ABC", "Protocol", "Struct", "Enum", "IntEnum", "StrEnum"})
"""Bases outside a release that make no dataclass of a class."""


def held(lens: Lens, alternatives: Iterable[Alternative], name: str) -> bool | None:
    """Whether all that a value may be has one of :data:`NAMES`; None where that differs or is open.

    Args:
        lens: The present release.
        alternatives: What the value may be.
        name: One of :data:`NAMES`.
    """
    answers: set[bool | None] = set()
    for each in alternatives:
        if type(each) is ClassRef and name == DICT:
            answers.add(True)
        elif isinstance(each, (ObjectOf, ClassRef)):
            answers.add(has(lens, each.symbol, name))
        else:
            answers.add(None)
    return answers.pop() if len(answers) == 1 else None


def has(lens: Lens, symbol: Symbol, name: str) -> bool | None:
    """Whether objects of a class have one of :data:`NAMES`."""
    return lens.once(("class-kind", symbol, name), lambda: _has(lens, symbol, name))


def _has(lens: Lens, symbol: Symbol, name: str) -> bool | None:
    kinds = [each.node.kind for each in lens.mro(symbol) if isinstance(each.node, Class)]
    struct = bool(lens.kind(symbol) & Kind.STRUCT)
    known = {each.partition("[")[0].rpartition(".")[2] for each in lens.externals(symbol)} <= _PLAIN
    if name == DATACLASS:
        if any(kind & Kind.DATACLASS for kind in kinds):
            return True
        return False if struct or (known and not _decorated(lens, symbol)) else None
    if name == STRUCT:
        return True if struct else (False if known else None)
    if not struct:
        slotted = lens.member(symbol, "__slots__") is not None or _slots(lens, symbol)
        return None if slotted or lens.kind(symbol) & Kind.NAMEDTUPLE else True
    if any(kind & Kind.DICT for kind in kinds):
        return True
    beside = [each for each in lens.mro(symbol) if not lens.kind(each) & Kind.STRUCT]
    # one that a function assembles, or that gives names out itself, may well have one
    written = any(each.endswith("Struct") for each in lens.externals(symbol))
    return None if beside or not (known and written) or lens.is_open(symbol) else False


def _decorated(lens: Lens, symbol: Symbol) -> bool:
    """Whether a decorator that is not known may have made a class something else."""
    return any(isinstance(each.node, Class) and each.node.decorators for each in lens.mro(symbol))


def _slots(lens: Lens, symbol: Symbol) -> bool:
    """Whether ``@dataclass(slots=True)`` leaves objects of a class without a ``__dict__``."""
    return any(
        "slots=True" in decorator
        for each in lens.mro(symbol)
        if isinstance(each.node, Class)
        for decorator in each.node.decorators
    )
