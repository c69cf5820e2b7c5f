"""The life of a symbol: in which releases it exists, in which form, what is close to it.

Names vanish and return, so a life is a list of intervals, not one range.
"""

from __future__ import annotations

import msgspec

from sglang_contracts.errors import nearest
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.spelling import look_up


class Interval(msgspec.Struct, frozen=True):
    """A run of recorded releases in which a symbol exists."""

    first: str
    last: str


class Form(msgspec.Struct, frozen=True):
    """A shape a symbol has, from one release on."""

    since: str
    text: str
    """A signature or annotation in one line."""
    defined: str
    """Where it is defined then, as ``module:Qual``; empty for flags and variables."""


class Life(msgspec.Struct, frozen=True):
    """What the recorded releases say of one spelling."""

    name: str
    intervals: tuple[Interval, ...]
    forms: tuple[Form, ...]
    newest: str
    """The newest recorded release: where the last interval ends there, the symbol lives."""

    @property
    def alive(self) -> bool:
        """Whether the newest recorded release has it."""
        return bool(self.intervals) and self.intervals[-1].last == self.newest

    def covers(self, releases: tuple[str, ...], release: str) -> bool:
        """Whether it exists in ``release``; ``releases`` are all recorded ones, ascending."""
        at = releases.index(release)
        return any(
            releases.index(each.first) <= at <= releases.index(each.last) for each in self.intervals
        )


def life(catalog: Catalog, spelling: str) -> Life:
    """The life of a symbol over all recorded releases; without intervals: it never existed.

    Args:
        catalog: The releases.
        spelling: Any spelling of :mod:`sglang_contracts.surface.spelling`.
    """
    intervals: list[Interval] = []
    forms: list[Form] = []
    first = last = ""
    for release in catalog.releases:
        found = look_up(catalog.surface(release), spelling)
        if found is None:
            if first:
                intervals.append(Interval(first, last))
            first = ""
            continue
        first = first or release
        last = release
        defined = found.symbol.name if found.symbol is not None else ""
        if not forms or (forms[-1].text, forms[-1].defined) != (found.form, defined):
            forms.append(Form(release, found.form, defined))
    if first:
        intervals.append(Interval(first, last))
    newest = catalog.releases[-1] if catalog.releases else ""
    return Life(spelling, tuple(intervals), tuple(forms), newest)


def near_misses(catalog: Catalog, spelling: str, limit: int = 5) -> tuple[str, ...]:
    """Spellings that exist in some release and are close to one that does not.

    The same name elsewhere comes first, then other names in the same place.
    """
    out: list[str] = []
    prefix, colon, rest = spelling.partition(":")
    if colon and prefix in ("flag", "env"):
        known: set[str] = set()
        for release in (
            catalog.releases[:: max(1, len(catalog.releases) // 8)] + catalog.releases[-1:]
        ):
            surface = catalog.surface(release)
            known.update(surface.flags() if prefix == "flag" else surface.environment())
        return tuple(f"{prefix}:{name}" for name in nearest(rest, known, limit))
    if not rest:
        modules = {name for release in _sample(catalog) for name in _modules(catalog, release)}
        return tuple(nearest(prefix, modules, limit))
    owner, _, last = rest.rpartition(".")
    elsewhere: list[str] = []
    beside: dict[str, str] = {}
    for release in _sample(catalog):
        surface = catalog.surface(release)
        elsewhere += (_join(place, last) for place in surface.places(last))
        holder = surface.find(prefix, owner)
        if holder is not None and holder.kind == "class":
            beside.update((name, f"{prefix}:{owner}.{name}") for name in surface.members(holder))
        elif holder is not None and (record := surface.module(holder.module)) is not None:
            names = (*record.classes, *record.functions, *record.values, *record.imports)
            beside.update((name, f"{prefix}:{name}") for name in names)
    out += dict.fromkeys(elsewhere)
    out += (beside[name] for name in nearest(last, beside, limit))
    if not out:
        surface = catalog.surface(catalog.releases[-1])
        for name in nearest(last, surface.names(), 2):
            out += (_join(place, name) for place in surface.places(name)[:2])
    return tuple(dict.fromkeys(out))[:limit]


def _sample(catalog: Catalog) -> tuple[str, ...]:
    """The newest release and every fourth before it: what lived at all lives in one of them."""
    return catalog.releases[::-4]


def _modules(catalog: Catalog, release: str) -> frozenset[str]:
    return catalog.surface(release).module_names()


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if ":" in place else f"{place}:{name}"
