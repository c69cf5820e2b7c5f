"""One name went and another came in its place, with the same shape: a rename."""

from __future__ import annotations

import difflib

from sglang_contracts.surface.model import Attribute, Class, Function


def renamed(name: str, before: Class, after: Class) -> str | None:
    """The new name of a class's own member; None where the text does not show one.

    Args:
        name: The member, which ``after`` does not have.
        before: The class as it was.
        after: The class as it is.

    Returns:
        The name that stands between the same neighbours now and has the same annotation and default
        (or signature). Where several names were exchanged in one place, each is paired with the one
        at its position, if all of them keep their shapes.
    """
    for had, has in (
        (before.attributes, after.attributes),
        (before.methods, after.methods),
    ):
        if name not in had or name in has:
            continue
        old, new = list(had), list(has)
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
            if tag != "replace" or i2 - i1 != j2 - j1 or name not in old[i1:i2]:
                continue
            pairs = list(zip(old[i1:i2], new[j1:j2], strict=True))
            if all(_shape(had[one]) == _shape(has[other]) for one, other in pairs):
                return dict(pairs)[name]
    return None


def _shape(member: Attribute | Function) -> tuple[object, ...]:
    if isinstance(member, Attribute):
        return (member.annotation, member.value, member.on_self, member.keyword)
    kinds = tuple((each.kind, each.annotation, each.default) for each in member.parameters)
    return (kinds, member.returns, int(member.role))
