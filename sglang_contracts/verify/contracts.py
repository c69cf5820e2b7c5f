"""Contracts × releases: is each clause true of each recorded release, and are its bounds sharp?

A clause's range must say *present* exactly where the surface has it: not merely "from here on", but
not a release too early nor too late. That is proved for every clause and every release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from sglang_contracts import __version__, paths
from sglang_contracts.contract.model import SURFACE_KINDS, Clause, Contract, Kind, variant
from sglang_contracts.contract.ranges import Range, sharp
from sglang_contracts.contract.signature import signature
from sglang_contracts.surface.model import Function
from sglang_contracts.surface.spelling import Found, look_up
from sglang_contracts.verify.finding import (
    Finding,
    Location,
    ReleaseReport,
    Report,
    Severity,
    Suggestion,
    Verdict,
)
from sglang_contracts.verify.mining import coverage, read_or_called

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog, Surface

CHECKED = SURFACE_KINDS | {Kind.OBLIGATION}
"""Kinds of clause that a surface can answer; the others are proved on running releases."""

Progress = Callable[[int, int], None]
"""Called with releases done and releases in all."""


class Proposal(msgspec.Struct, frozen=True):
    """The sharp range of a clause whose written one is wrong."""

    clause: str
    written: tuple[str, ...]
    sharp: tuple[str, ...]
    """Empty: it is present in every recorded release."""
    never: bool = False
    """No recorded release has it: the clause is to be removed."""


def verify_contracts(
    contracts: Sequence[Contract],
    catalog: Catalog,
    releases: Sequence[str],
    *,
    progress: Progress | None = None,
) -> Report:
    """Hold every clause against every release.

    Args:
        contracts: Those to verify.
        catalog: All recorded releases.
        releases: Those to verify against.
        progress: Called as releases are done.

    Returns:
        A report whose findings have role ``clause``. ``facts``: ``clauses``, ``releases``,
        ``checked`` (clause × release pairs answered), ``unproved`` (clauses that only a running
        release can answer), ``coverage`` (by contract: ``[contracted, mined]``) and ``proposals``.
    """
    key = _key(contracts, catalog, releases)
    kept = _kept(key)
    if kept is not None:
        return kept
    checked = [
        (contract, clause)
        for contract in contracts
        for clause in contract.clauses
        if clause.kind in CHECKED
    ]
    reports: list[ReleaseReport] = []
    wrong: dict[str, tuple[Contract, Clause]] = {}
    for done, release in enumerate(releases, 1):
        surface = catalog.surface(release)
        findings: list[Finding] = []
        for contract, clause in checked:
            found = check_clause(contract, clause, surface)
            if found:
                findings += found
                wrong[clause.id] = (contract, clause)
        verdict = Verdict.BROKEN if findings else Verdict.COMPATIBLE
        reports.append(ReleaseReport(release, verdict, tuple(findings)))
        if progress:
            progress(done, len(releases))
    proposals = [propose(clause, catalog) for _, clause in wrong.values()]
    report = Report(
        command="verify",
        releases=tuple(reports),
        facts={
            "clauses": len(checked),
            "releases": len(releases),
            "checked": len(checked) * len(releases),
            "unproved": sum(len(each.clauses) for each in contracts) - len(checked),
            "coverage": coverage(contracts, catalog, releases),
            "proposals": [msgspec.to_builtins(each) for each in proposals if each is not None],
        },
    )
    _keep(key, report)
    return report


def check_clause(contract: Contract, clause: Clause, surface: Surface) -> list[Finding]:
    """What is wrong with one clause in one release."""
    found = presence(clause, surface)
    expected = clause.holds_in(surface.release)
    if (found is not None) != expected:
        # A clause that may be left out still has sharp bounds: the name is there or it is not.
        return [_bounds(contract, clause, surface.release, found is not None)]
    if not expected or found is None:
        return []
    out = [
        finding
        for finding in (
            _parameters(contract, clause, surface, found),
            _replacement(contract, clause, surface),
        )
        if finding is not None
    ]
    return out


def presence(clause: Clause, surface: Surface) -> Found | None:
    """What a release has for a clause; None where it has nothing of the kind."""
    if clause.kind is Kind.OBLIGATION:
        where = read_or_called(surface, clause.receivers, clause.name)
        return Found("read in " + ", ".join(where)) if where else None
    for spelling in clause.symbols:
        found = look_up(surface, spelling)
        if found is not None:
            return found
    return None


def propose(clause: Clause, catalog: Catalog) -> Proposal | None:
    """The sharp range of a clause; None where it is the written one."""
    there = {
        release: presence(clause, catalog.surface(release)) is not None
        for release in catalog.releases
    }
    if not any(there.values()):
        return Proposal(clause.id, clause.sglang, (), never=True)
    tight = sharp(there)
    written = Range.of(clause.sglang)
    if all(written.contains(release) == is_there for release, is_there in there.items()):
        return None
    return Proposal(clause.id, clause.sglang, tight)


def _where(contract: Contract, clause: Clause) -> tuple[Location, ...]:
    return (Location(f"contracts/{contract.file or contract.id + '.toml'}", clause.line),)


def _bounds(contract: Contract, clause: Clause, release: str, present: bool) -> Finding:
    written = str(Range.of(clause.sglang))
    return Finding(
        rule="clause-bounds",
        severity=Severity.ERROR,
        symbol=clause.symbols[0] if clause.symbols else clause.id,
        locations=_where(contract, clause),
        role="clause",
        old=written,
        new="present" if present else "absent",
        detail=(f"is {'in' if present else 'not in'} {release}, but its range says {written!r}"),
        clause=clause.id,
        suggestion=Suggestion("sglang-contracts verify --propose", "contract"),
    )


def _parameters(
    contract: Contract, clause: Clause, surface: Surface, found: Found
) -> Finding | None:
    stated = variant(clause.parameters, surface.release)
    node = found.symbol.node if found.symbol is not None else None
    if stated is None or not isinstance(node, Function):
        return None
    symbol = found.symbol
    assert symbol is not None
    actual = signature(node, symbol.owner is not None)
    if actual == stated:
        return None
    return Finding(
        rule="clause-signature",
        severity=Severity.ERROR,
        symbol=symbol.name,
        locations=_where(contract, clause),
        role="clause",
        old=", ".join(stated),
        new=", ".join(actual),
        detail=f"takes ({', '.join(actual)}), not ({', '.join(stated)})",
        clause=clause.id,
    )


def _replacement(contract: Contract, clause: Clause, surface: Surface) -> Finding | None:
    """A replacement that claims to hold together with the clause must be there, too."""
    for each in clause.replaced_by:
        if not each.sglang or not each.applies(surface.release):
            continue
        if ":" in each.use and "(" not in each.use and look_up(surface, each.use) is None:
            return Finding(
                rule="clause-replacement",
                severity=Severity.ERROR,
                symbol=each.use,
                locations=_where(contract, clause),
                role="clause",
                detail=f"is said to replace {clause.name}, but is not in {surface.release}",
                clause=clause.id,
            )
    return None


# -- what was worked out once is kept: the answer depends on the recorded bytes and the contracts alone


def _key(contracts: Sequence[Contract], catalog: Catalog, releases: Sequence[str]) -> str:
    total = hashlib.blake2b(digest_size=16)
    total.update(f"{__version__} {_code_digest()}".encode())
    for contract in contracts:
        total.update(msgspec.msgpack.encode(contract))
    for release in catalog.releases:
        total.update(catalog.pack(release).header.digest.encode())
    total.update("|".join(releases).encode())
    return total.hexdigest()


def _code_digest() -> str:
    """Changes whenever the code that answers does: a kept answer must not outlive it."""
    folder = paths.package()
    newest = max(
        int(path.stat().st_mtime_ns)
        for part in ("surface", "verify", "contract")
        for path in (folder / part).glob("*.py")
    )
    return str(newest)


def _kept(key: str) -> Report | None:
    try:
        data = (paths.cache() / "verify" / f"{key}.msgpack").read_bytes()
        return msgspec.msgpack.decode(data, type=Report)
    except (OSError, msgspec.MsgspecError):
        return None


def _keep(key: str, report: Report) -> None:
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.surface.store import write_atomically

    try:
        write_atomically(
            paths.cache() / "verify" / f"{key}.msgpack", msgspec.msgpack.encode(report)
        )
    except ContractsError:
        return  # a cache that cannot be written to costs time, not answers
