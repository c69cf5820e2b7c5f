"""What releases read and call: the material contracts are reviewed from, and measured against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from sglang_contracts.contract.model import Contract, Kind

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog, Surface

_MEMBERS = frozenset(
    {Kind.FIELD, Kind.ATTRIBUTE, Kind.METHOD, Kind.MEMBER, Kind.OBLIGATION, Kind.FUNCTION}
)


class Mined(msgspec.Struct, frozen=True):
    """Something a release does with objects of one conventional name."""

    receiver: str
    name: str
    called: bool
    soft: bool
    """It provides for absence: ``hasattr`` or ``getattr`` with a default."""
    modules: tuple[str, ...]


def read_or_called(surface: Surface, receivers: Iterable[str], name: str) -> tuple[str, ...]:
    """Modules that read (or call) an attribute off receivers of these last names, hard."""
    modules: set[str] = set()
    for receiver in receivers:
        modules.update(surface.readers(receiver).get(name, ()))
        # A bound method is passed on by reading it, so a read counts for what is called as well;
        # a call counts for what is read, since it reads first.
        if surface.is_called_on(name, (receiver,)):
            modules.update(
                module for module, form in surface.callers(name) if form.receiver == receiver
            )
    return tuple(sorted(modules))


def mine(surface: Surface, receivers: Iterable[str]) -> list[Mined]:
    """Everything a release reads or calls off receivers of these last names."""
    out: list[Mined] = []
    for receiver in receivers:
        for soft, key in ((False, receiver), (True, f"{receiver}?")):
            for name, modules in surface.readers(key).items():
                out.append(Mined(receiver, name, False, soft, modules))
        for name, calls in surface.calls_on(receiver).items():
            modules = tuple(sorted({module for module, _ in calls}))
            out.append(Mined(receiver, name, True, False, modules))
    return out


def obligations(surface: Surface, receivers: Sequence[str], bases: Sequence[str]) -> list[Mined]:
    """What a release expects of a plugin's object though none of its base classes declares it.

    Args:
        surface: The release.
        receivers: Last names by which upstream calls such an object (``attn_backend``).
        bases: Spellings of the base classes a plugin derives from; those that are not in the
            release are passed over.
    """
    declared: set[str] = set()
    for spelling in bases:
        symbol = surface.parse(spelling)
        if symbol is not None and symbol.kind == "class":
            declared.update(surface.members(symbol))
    return [
        each
        for each in mine(surface, receivers)
        if not each.soft and each.name not in declared and not each.name.startswith("__")
    ]


_COVERED = 5
"""Releases X.Y.Z, the newest, over which coverage is told: what only older ones did is past."""


def coverage(
    contracts: Sequence[Contract], catalog: Catalog, releases: Sequence[str]
) -> dict[str, list[int]]:
    """By contract with conventional names: members with a clause, of those that releases touch.

    A member is touched where a release reads, writes or calls it off such an object.
    Only members that the release itself declares for the class count as mined: what is read off a
    namesake of another class is none of this contract's business.
    """
    out: dict[str, list[int]] = {}
    mined: dict[str, set[str]] = {}
    # Ascending, since each is recorded as the difference from the one before; what one release was
    # seen to read need not be looked for in another.
    # Of a release and its post releases the last will do.
    last = {Version(release).release: release for release in releases}
    for release in list(last.values())[-_COVERED:]:
        surface = catalog.surface(release)
        for contract in contracts:
            if contract.known_as and contract.targets:
                known = mined.setdefault(contract.id, set())
                known |= _touched(surface, contract, known)
    for contract in contracts:
        if mined.get(contract.id):
            stated = {
                clause.name.rpartition(".")[2]
                for clause in contract.clauses
                if clause.kind in _MEMBERS
            }
            out[contract.id] = [len(mined[contract.id] & stated), len(mined[contract.id])]
    return out


def _touched(surface: Surface, contract: Contract, known: set[str]) -> set[str]:
    """Members of a contract's class that a release reads, writes or calls, less those known."""
    members: set[str] = set()
    for target in contract.targets:
        symbol = surface.parse(target)
        if symbol is not None and symbol.kind == "class":
            members.update(surface.member_names(symbol))
    members -= known
    found: set[str] = set()
    for receiver in contract.known_as:
        found |= members & {*surface.readers(receiver), *surface.writers(receiver)}
    return found | {
        name for name in members - found if surface.is_called_on(name, contract.known_as)
    }
