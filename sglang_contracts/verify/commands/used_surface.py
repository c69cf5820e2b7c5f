"""What a plugin uses of a release, form by form, and one digest of it.

Two releases in which all forms are equal are the same release to the plugin: what was tested with
the one need not be tested again with the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from sglang_contracts.surface.model import Class, Module
from sglang_contracts.surface.spelling import look_up

if TYPE_CHECKING:
    from sglang_contracts.surface.surface import Surface
    from sglang_contracts.surface.symbol import Symbol


def used_forms(uses: Iterable[Mapping[str, Any]], surface: Surface) -> dict[str, str]:
    """Each symbol used → all that is recorded of it in a release, as JSON text.

    A function or method with its whole signature and what its body reads and calls; an overridden
    method with the forms in which core calls it, too; a class without its members, but with its
    constructor where it is called; a registry with its keys; a flag with its choices.

    Args:
        uses: ``facts["uses"]`` of ``uses``, as they resolve in that release.
        surface: The release.
    """
    forms: dict[str, list[str]] = {}
    for use in uses:
        symbol = str(use["symbol"])
        found = forms.setdefault(symbol, [])
        found += (text for text in _forms(surface, symbol, str(use["role"])) if text not in found)
    return {symbol: " ".join(sorted(found)) for symbol, found in sorted(forms.items())}


def digest(forms: Mapping[str, str]) -> str:
    """One digest (SHA-256, hexadecimal) of :func:`used_forms`."""
    text = "\n".join(f"{symbol} {form}" for symbol, form in sorted(forms.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def changed_forms(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Symbols that are not the same on both sides, or are on one side alone, sorted."""
    return tuple(sorted(name for name in {*before, *after} if before.get(name) != after.get(name)))


def _forms(surface: Surface, symbol: str, role: str) -> Iterator[str]:
    if symbol.startswith("flag:"):
        yield _text(surface.flag(symbol.removeprefix("flag:")))
        return
    found = look_up(surface, symbol)
    if found is None or found.symbol is None:
        yield found.form if found else "missing"
        return
    yield from _recorded(surface, found.symbol, role)


def _recorded(surface: Surface, symbol: Symbol, role: str) -> Iterator[str]:
    node = symbol.node
    if isinstance(node, Class):
        yield _text([node.bases, node.kind, node.decorators, node.condition])
        if role == "call":
            yield _text([surface.constructor(symbol), surface.fields(symbol)])
    elif isinstance(node, Module) or node is None:
        yield symbol.kind
    else:
        yield _text(node)
        if role == "override":
            called = {_text(call) for _, call in surface.callers(symbol.qual.rpartition(".")[2])}
            yield from sorted(called)


def _text(value: object) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()
