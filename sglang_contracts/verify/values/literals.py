"""Arguments that evidently are not what an annotation wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.values.value import Value

_TEXT = frozenset({"str"})
_NUMBERS = frozenset({"int", "float", "bool", "true", "false"})
_PLAIN = _TEXT | _NUMBERS | {"number", "list", "dict", "tuple"}
"""Kinds of builtin values; ``number`` is whatever an operator makes, of texts as well."""


def _apart(given: set[object], wanted: set[object]) -> bool:
    """Whether a text is given for a number, or a number for a text."""
    wanted = wanted - {"None"}
    return bool(given and wanted) and (
        (given <= _TEXT and wanted <= _NUMBERS) or (given <= _NUMBERS and wanted <= _TEXT)
    )


def contradicts(
    value: Value, wanted: Sequence[tuple[object, ...]], record: Callable[[Symbol], bool]
) -> bool:
    """Whether a literal is given for a record, a record for a scalar, or a text for a number.

    Args:
        value: What is given.
        wanted: What the annotation means; nothing: unknown.
        record: Whether a class is one whose instances no literal could stand for.
    """
    if not wanted:
        return False
    literals = [
        each for each in value.alternatives if each[0] in ("literal", "list", "dict", "tuple")
    ]
    if len(literals) == len(value.alternatives) and ("literal", "None") not in literals:
        if not all(each[0] != "literal" or each[1] in _PLAIN for each in literals):
            return False
        if all(each[0] == "literal" for each in (*literals, *wanted)):
            return _apart({each[1] for each in literals}, {each[1] for each in wanted})
        return all(each[0] == "object" and record(each[1]) for each in wanted)  # type: ignore[arg-type]
    if all(each[0] == "object" for each in value.alternatives):
        # what is merely annotated as a record may hold anything; what is made here may not
        if not all(each[2] and record(each[1]) for each in value.alternatives):
            return False
        return all(
            each[0] == "literal" and each[1] in ("int", "float", "str", "bool") for each in wanted
        )
    return False
