"""One finding for each rule and symbol, with all its places."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sglang_contracts.verify.findings.finding import (
    VERSION,
    Finding,
    Location,
    Severity,
    with_changes,
)

_PATCH, _ORPHAN = "patch-target-missing", "override-orphaned"

MergesWith = Mapping[str, Collection[str]]
"""Rule → the rules that already say it, on the same symbol and places."""


def merge(findings: Sequence[Finding], merges_with: MergesWith) -> tuple[Finding, ...]:
    """One finding for each rule and symbol, with all its places; the worst severity wins."""
    held: dict[tuple[str, str, str], Finding] = {}
    places: dict[tuple[str, str, str], set[Location]] = {}
    for each in findings:
        kind = "note" if each.severity is Severity.NOTE else "problem"
        # what is wrong with one comparison has nothing to do with another one
        apart = each.detail if each.symbol == VERSION else ""
        key = (each.rule, each.symbol, kind + apart)
        other = held.get(key)
        if other is None:
            held[key] = each
            continue
        places.setdefault(key, set(other.locations)).update(each.locations)
        worst, less = (each, other) if each.severity.rank > other.severity.rank else (other, each)
        earliest = min(
            (worst, less), key=lambda one: (one.by_name, one.severity.rank != worst.severity.rank)
        )
        held[key] = with_changes(
            worst,
            by_name=worst.by_name and less.by_name,
            last_ok=earliest.last_ok,
            first_broken=earliest.first_broken,
            suggestion=worst.suggestion or less.suggestion,
        )
    for key, gathered in places.items():
        held[key] = with_changes(held[key], locations=tuple(sorted(gathered)))
    ranked = sorted(
        _patched(list(held.values()), merges_with),
        key=lambda one: (-one.severity.rank, one.locations[:1], one.rule, one.symbol),
    )
    return tuple(_dedupe(ranked, merges_with))


def _patched(findings: list[Finding], merges_with: MergesWith) -> list[Finding]:
    """What is read before it is patched is one break, not two."""
    patches = {each.symbol: each for each in findings if each.rule == _PATCH}
    kept: list[Finding] = []
    for each in findings:
        patch = patches.get(each.symbol)
        said = _PATCH in merges_with.get(each.rule, ())
        if patch is None or not said or each.severity is not patch.severity:
            kept.append(each)
            continue
        patches[each.symbol] = with_changes(
            patch,
            locations=tuple(sorted({*patch.locations, *each.locations})),
            suggestion=patch.suggestion or each.suggestion,
        )
    return [patches.get(each.symbol, each) if each.rule == _PATCH else each for each in kept]


def _dedupe(ranked: Sequence[Finding], merges_with: MergesWith) -> list[Finding]:
    """The same symbol under two rules at the same places is said once, the weightier first."""
    kept: list[Finding] = []
    said: dict[str, set[tuple[str, int]]] = {}
    clauses: set[tuple[str, str, tuple[Location, ...]]] = set()
    overridden = {
        (each.symbol, place.file)
        for each in ranked
        if each.rule == _ORPHAN and each.severity is not Severity.NOTE
        for place in each.locations
    }
    for each in ranked:
        places_of = {(each.symbol, place.file) for place in each.locations}
        if (each.clause and places_of <= overridden) and _ORPHAN in merges_with.get(each.rule, ()):
            continue  # said where the method stands
        if each.clause:  # one change, written down for each class that has the member
            key = (each.rule, each.symbol.rsplit(".", 1)[-1], each.locations)
            if key in clauses:
                continue
            clauses.add(key)
        places = {(one.file, one.line) for one in each.locations}
        covered = said.setdefault(each.symbol, set())
        if places and places <= covered:
            continue
        covered |= places
        kept.append(each)
    return kept
