"""Arguments that evidently are not what an annotation wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.values.value import (
    NONE,
    Alternative,
    Builtin,
    DictValue,
    ListValue,
    ObjectOf,
    TupleValue,
    Value,
)

_TEXT = frozenset({"str"})
_NUMBERS = frozenset({"int", "float", "bool", "true", "false"})
_PLAIN = _TEXT | _NUMBERS | {"number", "list", "dict", "tuple"}
"""Kinds of builtin values; ``number`` is whatever an operator makes, of texts as well."""
_SCALARS = frozenset({"int", "float", "str", "bool"})
_SHOWN = frozenset({Builtin, ListValue, DictValue, TupleValue})


def _apart(given: AbstractSet[str], wanted: AbstractSet[str]) -> bool:
    """Whether a text is given for a number, or a number for a text."""
    wanted = wanted - {"None"}
    return bool(given and wanted) and (
        (given <= _TEXT and wanted <= _NUMBERS) or (given <= _NUMBERS and wanted <= _TEXT)
    )


def contradicts(
    value: Value, wanted: Sequence[Alternative], record: Callable[[Symbol], bool]
) -> bool:
    """Whether a literal is given for a record, a record for a scalar, or a text for a number.

    Args:
        value: What is given.
        wanted: What the annotation means; nothing: unknown.
        record: Whether a class is one whose instances no literal could stand for.
    """
    if not wanted:
        return False
    given = value.alternatives
    if all(type(each) in _SHOWN for each in given) and NONE not in given:
        plain = {each.kind for each in given if type(each) is Builtin}
        if not plain <= _PLAIN:
            return False
        wanted_kinds = {each.kind for each in wanted if type(each) is Builtin}
        if all(type(each) is Builtin for each in (*given, *wanted)):
            return _apart(plain, wanted_kinds)
        return all(type(each) is ObjectOf and record(each.symbol) for each in wanted)
    if all(type(each) is ObjectOf for each in given):
        # what is merely annotated as a record may hold anything; what is made here may not
        if not all(type(each) is ObjectOf and each.exact and record(each.symbol) for each in given):
            return False
        return all(type(each) is Builtin and each.kind in _SCALARS for each in wanted)
    return False
