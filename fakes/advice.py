"""Which releases had a name, and what to use instead."""

from __future__ import annotations

from sglang_contracts.contract import load_contracts
from sglang_contracts.contract.model import Clause
from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import Catalog
from sglang_contracts.surface.history import life, near_misses


def advise(catalog: Catalog, release: str, spelling: str) -> str:
    """What to say of a name that a release does not have.

    Args:
        catalog: The recorded releases.
        release: The one that lacks it.
        spelling: ``module:Qual.name``, ``module`` or ``module:Qual.function(parameter)``.

    Returns:
        Sentences without a final full stop: in which releases it was or will be, what a contract
        says to use, else which names are close.
    """
    found = life(catalog, spelling)
    if found.intervals:
        spans = ", ".join(
            each.first if each.first == each.last else f"{each.first} … {each.last}"
            for each in found.intervals
        )
        said = f"SGLang {release} does not have {spelling}, these have it: {spans}"
    else:
        said = f"no recorded SGLang has {spelling}"
    instead = _instead(release, spelling)
    if instead:
        return f"{said}. Use {instead}"
    if spelling.endswith(")"):
        return said  # the signature stands beside it: that is closer than any other name
    close = [
        each
        for each in near_misses(catalog, spelling)
        if _is_near(spelling, each) and _there(catalog, release, each)
    ]
    return f"{said}. Close to it in {release}: {', '.join(close)}" if close else said


def _is_near(spelling: str, other: str) -> bool:
    """The same name elsewhere, or another one in the same module: not a likeness of letters."""
    module, _, qual = spelling.partition(":")
    place, _, name = other.partition(":")
    return module == place or not qual or qual.rpartition(".")[2] == name.rpartition(".")[2]


def _there(catalog: Catalog, release: str, spelling: str) -> bool:
    return catalog.surface(release).parse(spelling) is not None


def _instead(release: str, spelling: str) -> str:
    """What the contracts put in its place in this release."""
    try:
        contracts = load_contracts()
    except ContractsError:
        return ""  # a broken contract must not hide the message that somebody is waiting for
    for contract in contracts:
        for clause in contract.clauses:
            replacement = clause.replacement(release) if _is_about(clause, spelling) else None
            if replacement is not None:
                note = f" ({replacement.note})" if replacement.note else ""
                return f"{replacement.use}{note} [contract {clause.id}]"
    return ""


def _is_about(clause: Clause, spelling: str) -> bool:
    if spelling in clause.symbols:
        return True
    # A parameter is a clause of its own only where the method's is not enough.
    return bool(clause.symbols) and spelling.partition("(")[0] in clause.symbols
