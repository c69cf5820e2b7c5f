"""Every way to write a thing that a release has, and what the release says of it.

``module:Qual.name`` · ``module`` · ``module:Qual.func(param)`` · ``module:REGISTRY["key"]`` ·
``flag:--name`` · ``flag:--name(value)`` · ``env:NAME``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Function,
    Parameter,
    ParameterKind,
    Role,
    Value,
)

if TYPE_CHECKING:
    from sglang_contracts.surface.surface import Surface
    from sglang_contracts.surface.symbol import Symbol

_KEY = re.compile(r"""(.+)\[["'](.+)["']\]""")
_ARGUMENT = re.compile(r"(.+)\((\w+)\)")


@dataclass(frozen=True)
class Found:
    """What a release has under a spelling."""

    form: str
    """Its shape in one line: a signature, an annotation, the choices of a flag."""
    symbol: Symbol | None = None
    """Where it is defined; None for flags, variables and keys."""


def look_up(surface: Surface, spelling: str) -> Found | None:
    """What a release has under a spelling; None where it has nothing."""
    head, colon, rest = spelling.partition(":")
    if colon and head == "flag":
        return _flag(surface, rest)
    if colon and head == "env":
        instead = surface.variable(rest)
        if instead is None:
            return None
        return Found(f"deprecated: {instead}" if instead else "read")
    key = _KEY.fullmatch(spelling)
    if key:
        return _registered(surface, key.group(1), key.group(2))
    argument = _ARGUMENT.fullmatch(spelling)
    if argument:
        found = look_up(surface, argument.group(1))
        for each in parameters(surface, found.symbol) if found and found.symbol else ():
            if each.name == argument.group(2):
                return Found(parameter(each), found.symbol if found else None)
        return None
    symbol = surface.parse(spelling)
    return Found(form(surface, symbol), symbol) if symbol is not None else None


def exists(surface: Surface, spelling: str) -> bool:
    """Whether a release has anything under a spelling: :func:`look_up` without its shape."""
    if spelling.startswith(("flag:", "env:")) or spelling.endswith(("]", ")")):
        return look_up(surface, spelling) is not None
    return surface.parse(spelling) is not None


def form(surface: Surface, symbol: Symbol) -> str:
    """The shape of a symbol in one line, without its name."""
    node = symbol.node
    if isinstance(node, Function):
        if node.role & Role.PROPERTY:
            return f"property -> {node.returns}" if node.returns else "property"
        return signature(node)
    if isinstance(node, Class):
        return f"class({', '.join(node.bases)})"
    if isinstance(node, (Attribute, Value)):
        if node.annotation:
            return f": {node.annotation}" + (f" = {node.value}" if node.value else "")
        return f"= {node.value}" if node.value else "(set at run time)"
    return symbol.kind


def signature(function: Function) -> str:
    """A signature as Python writes it, annotations of parameters left out where there are none."""
    parts: list[str] = []
    star = False
    for each in function.parameters:
        if each.kind == ParameterKind.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if each.kind == ParameterKind.VAR_POSITIONAL:
            star = True
        parts.append(parameter(each))
    flags = [
        word
        for role, word in ((Role.STATIC, "@staticmethod "), (Role.CLASS, "@classmethod "))
        if function.role & role
    ]
    retired = " (retired: a call raises)" if function.role & Role.RETIRED else ""
    returns = f" -> {function.returns}" if function.returns else ""
    return f"{''.join(flags)}({', '.join(parts)}){returns}{retired}"


def parameter(each: Parameter) -> str:
    """One parameter as Python writes it."""
    stars = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}.get(each.kind, "")
    annotation = f": {each.annotation}" if each.annotation else ""
    return f"{stars}{each.name}{annotation}" + (f"={each.default}" if each.default else "")


def parameters(surface: Surface, symbol: Symbol) -> tuple[Parameter, ...]:
    """Parameters of a function, method, or of a class's constructor."""
    if isinstance(symbol.node, Function):
        return symbol.node.parameters
    if symbol.kind == "class":
        constructor = surface.constructor(symbol)
        return constructor.parameters if constructor is not None else ()
    return ()


def _flag(surface: Surface, text: str) -> Found | None:
    name, _, value = text.partition("(")
    flag = surface.flag(name)
    if flag is None:
        return None
    choices = surface.flag_choices(name)
    if value and choices is not None and value.rstrip(")") not in choices:
        return None
    parts = [f"dest={flag.dest}"]
    if choices is not None:
        parts.append(f"choices={', '.join(choices)}")
    if flag.action:
        parts.append(f"action={flag.action}")
    if flag.deprecated:
        parts.append(f"deprecated: {flag.deprecated}")
    return Found("; ".join(parts))


def _registered(surface: Surface, table: str, key: str) -> Found | None:
    """A key of a registry: in its display, assigned to it, or given to what registers for it."""
    symbol = surface.parse(table)
    if symbol is None:
        return None
    node = symbol.node
    if isinstance(node, (Value, Attribute)) and key in node.keys:
        return Found("registered", symbol)
    name = symbol.qual.rpartition(".")[2]
    # ``ATTENTION_BACKENDS`` is filled by ``register_attention_backend("…")``: the name tells.
    stem = re.sub(r"(_MAP|_REGISTRY)$", "", name, flags=re.IGNORECASE).rstrip("Ss").lower()
    for function in (name, f"register_{stem}", f"_register_{stem}"):
        if key in surface.registrations(function):
            return Found("registered", symbol)
    return None
