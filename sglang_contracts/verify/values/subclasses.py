"""Which classes of a release derive from one."""

from __future__ import annotations

from collections.abc import Iterator

from sglang_contracts.surface.model import Class
from sglang_contracts.surface.surface import Surface
from sglang_contracts.surface.symbol import Symbol


def derived(surface: Surface, base: Symbol) -> Iterator[Symbol]:
    """Classes of a release that derive from a base, as far as its methods lead to them."""
    here = surface.find(base.module, base.qual)
    if here is None or not isinstance(here.node, Class):
        return
    found: set[Symbol] = set()
    for name in here.node.methods:
        if name.startswith("__"):
            continue
        for place in surface.places(name):
            module, _, qual = place.partition(":")
            if not qual or module.startswith("sglang.test"):
                continue
            other = surface.find(module, qual)
            if (other is not None and other.kind == "class" and other != base) and (
                base in surface.mro(other)
            ):
                if other not in found:
                    yield other
                found.add(other)
