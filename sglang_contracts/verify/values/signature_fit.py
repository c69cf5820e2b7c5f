"""Whether a call fits a signature, and what is in its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sglang_contracts.surface.model import Call, Parameter, ParameterKind
from sglang_contracts.surface.model import Function as Recorded

_POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL)


_RESHAPING = (
    "jit",
    "kernel",
    "inject",
    "click",
    "app.",
    "router.",
    "autotune",
    "heuristics",
    "singledispatch",
    "pytest",
)
"""Parts of decorators that give a function another signature than the one written."""


class Misfit(NamedTuple):
    """The first thing in a call's way."""

    what: str
    """``unknown-keyword``, ``too-many``, ``missing`` or ``keyword-only``."""
    name: str
    """The parameter or keyword; for ``too-many`` the number that is accepted."""


class Shape(NamedTuple):
    """The form of a call, whoever makes it."""

    positional: int
    keywords: tuple[str, ...]
    star: bool = False
    double_star: bool = False


def shape(call: Call) -> Shape:
    """The form of one of upstream's calls."""
    return Shape(call.positional, call.keywords, call.star, call.double_star)


def misfit(parameters: Sequence[Parameter], form: Shape) -> Misfit | None:
    """What keeps a call from binding; None where it binds, or may.

    ``*args`` and ``**kwargs`` in the call give it the benefit of the doubt, but what stands in it
    explicitly must be taken.
    """
    names = {each.name for each in parameters}
    positional = [each for each in parameters if each.kind in _POSITIONAL]
    takes_star = any(each.kind == ParameterKind.VAR_POSITIONAL for each in parameters)
    takes_double = any(each.kind == ParameterKind.VAR_KEYWORD for each in parameters)
    by_keyword = {
        each.name
        for each in parameters
        if each.kind in (ParameterKind.POSITIONAL, ParameterKind.KEYWORD_ONLY)
    }
    for keyword in form.keywords:
        if keyword not in by_keyword and not takes_double:
            return Misfit("unknown-keyword", keyword)
    if form.positional > len(positional) and not takes_star:
        only = [each for each in parameters if each.kind == ParameterKind.KEYWORD_ONLY]
        extra = form.positional - len(positional)
        if only and extra <= len(only) and any(each.name not in form.keywords for each in only):
            return Misfit("keyword-only", only[0].name)
        return Misfit("too-many", str(len(positional)))
    given = {each.name for each in positional[: form.positional]}
    twice = given & set(form.keywords) & names
    if twice and not takes_double:
        return Misfit("unknown-keyword", sorted(twice)[0])
    if form.double_star or form.star:
        rest = [
            each
            for each in parameters
            if each.required
            and each.kind == ParameterKind.KEYWORD_ONLY
            and each.name not in form.keywords
        ]
        return Misfit("missing", rest[0].name) if rest and not form.double_star else None
    for each in parameters:
        if each.required and each.name not in given and each.name not in form.keywords:
            return Misfit("missing", each.name)
    return None


def bound_to(parameters: Sequence[Parameter], form: Shape) -> dict[str | int, Parameter]:
    """Which parameter each argument lands on: by position (int) and by keyword (str)."""
    positional = [each for each in parameters if each.kind in _POSITIONAL]
    found: dict[str | int, Parameter] = dict(enumerate(positional[: form.positional]))
    for each in parameters:
        if each.name in form.keywords:
            found[each.name] = each
    return found


def text(name: str, parameters: Sequence[Parameter]) -> str:
    """A signature as one reads it; annotations left out."""
    parts: list[str] = []
    starred = False
    for each in parameters:
        if each.kind == ParameterKind.VAR_POSITIONAL:
            parts.append(f"*{each.name}")
            starred = True
            continue
        if each.kind == ParameterKind.VAR_KEYWORD:
            parts.append(f"**{each.name}")
            continue
        if each.kind == ParameterKind.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        default = each.default if len(each.default) <= 20 else "..."
        parts.append(f"{each.name}={default}" if each.default else each.name)
    return f"{name}({', '.join(parts)})"


def reshaped(node: Recorded) -> bool:
    """Whether a decorator gives the function another signature than the one written."""
    return any(mark in each for each in node.decorators for mark in _RESHAPING)
