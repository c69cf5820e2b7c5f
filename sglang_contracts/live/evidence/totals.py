"""What all runs together say of each clause, and what SGLang uses that no clause lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sglang_contracts.contract import Contract
from sglang_contracts.live.evidence.distil import WATCHED
from sglang_contracts.live.evidence.judge import Status, absent, confirm, subjects
from sglang_contracts.live.evidence.model import Evidence, upstream


@dataclass(frozen=True)
class Row:
    """What all runs together say of one clause.

    Attributes:
        clause: Its id.
        status: The highest of its statuses, so that one contradiction is never outvoted.
        seen: Releases in which a value or a call was seen as stated.
        present: Releases in which it is there, and the clause states no more.
        declared: Releases in which it is declared, but what is stated of it was not seen.
        contradicted: Release → what was seen instead.
        absent: Releases outside its range, in which it is not there.
        modes: Forward modes in which it was seen.
        asked: Releases with evidence in which the clause holds; without any it could not be seen.
    """

    clause: str
    status: Status
    seen: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    contradicted: tuple[tuple[str, str], ...] = ()
    absent: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def confirmed(self) -> tuple[str, ...]:
        """Releases that have shown all it states; none while any contradicts it."""
        return () if self.contradicted else (*self.seen, *self.present)


def table(contract: Contract, found: Sequence[Evidence]) -> tuple[Row, ...]:
    """One row for each clause of a contract, in the contract's order.

    Args:
        contract: Any contract.
        found: Evidence files of several releases, ascending; several of one release count as one,
            and what one of them shows, the release has shown.
    """
    verdicts: dict[str, dict[str, tuple[Status, str]]] = {c.id: {} for c in contract.clauses}
    modes: dict[str, dict[str, None]] = {c.id: {} for c in contract.clauses}
    for evidence in found:
        for each in confirm(contract, evidence):
            best = verdicts[each.clause].get(each.release, (Status.NOT_EXERCISED, ""))
            verdicts[each.clause][each.release] = max(best, (each.status, each.detail))
            modes[each.clause].update(dict.fromkeys(each.modes))
    held = {evidence.release: subjects(contract, evidence.release) for evidence in found}
    rows = []
    for clause in contract.clauses:
        by_release = verdicts[clause.id]
        of = {s: [r for r, (status, _) in by_release.items() if status is s] for s in Status}
        lacking = {
            evidence.release: None
            for evidence in found
            if not clause.holds_in(evidence.release)
            and absent(clause, held[evidence.release], evidence)
        }
        rows.append(
            Row(
                clause=clause.id,
                status=max((s for s, _ in by_release.values()), default=Status.NOT_EXERCISED),
                seen=tuple(of[Status.SEEN]),
                present=tuple(of[Status.PRESENT]),
                declared=tuple(of[Status.DECLARED]),
                contradicted=tuple((r, by_release[r][1]) for r in of[Status.CONTRADICTED]),
                absent=tuple(lacking),
                modes=tuple(modes[clause.id]),
                asked=tuple(dict.fromkeys(e.release for e in found if clause.holds_in(e.release))),
            )
        )
    return tuple(rows)


@dataclass(frozen=True)
class Counts:
    """How much of a contract running releases have shown.

    Attributes:
        contract: Its id.
        asked: Clauses that hold in a release with evidence.
        seen: Of these, those with a value or call as stated.
        present: Those that are there and state no more.
        declared: Those declared, without what is stated of them.
        contradicted: Those seen otherwise.
        not_exercised: The ids of the rest.
    """

    contract: str
    asked: int
    seen: int
    present: int
    declared: int
    contradicted: int
    not_exercised: tuple[str, ...]

    @property
    def confirmed(self) -> int:
        """Clauses of which running releases have shown all they state."""
        return self.seen + self.present


def counts(contract: Contract, found: Sequence[Evidence]) -> Counts:
    """Sum up :func:`table` for one contract."""
    rows = [row for row in table(contract, found) if row.asked]
    by = {status: [row for row in rows if row.status is status] for status in Status}
    return Counts(
        contract=contract.id,
        asked=len(rows),
        seen=len(by[Status.SEEN]),
        present=len(by[Status.PRESENT]),
        declared=len(by[Status.DECLARED]),
        contradicted=len(by[Status.CONTRADICTED]),
        not_exercised=tuple(row.clause for row in by[Status.NOT_EXERCISED]),
    )


def unlisted(contracts: Sequence[Contract], evidence: Evidence) -> dict[str, tuple[str, ...]]:
    """What SGLang called or read on a plugin's object though no clause lists it.

    What it asks for and does without is left out: a plugin that has it not misses nothing.

    Args:
        contracts: All contracts.
        evidence: One release's.

    Returns:
        Role → names, sorted; a role without such names is left out.
    """
    listed: dict[str, set[str]] = {}
    for contract in contracts:
        for clause in contract.clauses:
            if clause.owner and clause.holds_in(evidence.release):
                for role, _ in evidence.of(clause.owner):
                    listed.setdefault(role, set()).add(clause.name)
    result: dict[str, set[str]] = {}
    for role, found in evidence.objects.items():
        kind = role.partition("@")[0]
        if kind not in WATCHED or upstream(found.cls):
            continue
        used = {
            name: {by for call in calls for by in call.by} for name, calls in found.calls.items()
        }
        for name, reads in found.reads.items():
            there = [read for read in reads if read.value["type"] != "missing"]
            used.setdefault(name, set()).update(by for read in there for by in read.by)
        for name, by_all in used.items():
            ours = name in listed.get(role, set()) or name.startswith("_") or "." in name
            if not ours and any(upstream(by) for by in by_all):
                result.setdefault(kind, set()).add(name)
    return {role: tuple(sorted(names)) for role, names in sorted(result.items())}
