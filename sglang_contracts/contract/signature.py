"""The canonical text of a parameter list, as contracts write it.

``["q", "save_kv_cache=", "*", "sharded", "**kwargs"]``: a name; ``=`` after it where it has a
default; ``*`` before keyword-only ones; ``/`` after positional-only ones; ``*args`` and
``**kwargs`` as in Python. ``self`` and ``cls`` are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglang_contracts.surface.model import Function, Parameter

_POSITIONAL_ONLY, _POSITIONAL, _VAR_POSITIONAL, _KEYWORD_ONLY, _VAR_KEYWORD = range(5)
_STATIC = 1


def signature(function: Function, member: bool) -> tuple[str, ...]:
    """The canonical text of a recorded function's parameters.

    Args:
        function: As recorded in a surface.
        member: Whether it belongs to a class: the first parameter is then left out, unless it is
            a static method.
    """
    parameters = function.parameters
    if member and not function.role & _STATIC and parameters:
        first = parameters[0].kind
        if first in (_POSITIONAL_ONLY, _POSITIONAL):
            parameters = parameters[1:]
    return canonical(parameters)


def canonical(parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    """The canonical text of these parameters, all of them."""
    found: list[str] = []
    star = False
    previous: int | None = None
    for each in parameters:
        if previous == _POSITIONAL_ONLY and each.kind != _POSITIONAL_ONLY:
            found.append("/")
        if each.kind == _KEYWORD_ONLY and not star:
            found.append("*")
            star = True
        if each.kind == _VAR_POSITIONAL:
            found.append(f"*{each.name}")
            star = True
        elif each.kind == _VAR_KEYWORD:
            found.append(f"**{each.name}")
        else:
            found.append(f"{each.name}=" if each.default else each.name)
        previous = each.kind
    if previous == _POSITIONAL_ONLY:
        found.append("/")
    return tuple(found)


def bare(text: str) -> str:
    """The name in one canonical entry: stars and ``=`` taken off."""
    return text.lstrip("*").rstrip("=")


def names(parameters: tuple[str, ...]) -> tuple[str, ...]:
    """The bare names in a canonical list, markers left out."""
    return tuple(bare(text) for text in parameters if text not in ("*", "/"))
