"""Contracts x releases: is each clause true of each recorded release, and are its bounds sharp?

A clause's range must say *present* exactly where the surface has it: not merely "from here on", but
not a release too early nor too late. That is proved for every clause and every release.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from sglang_contracts.code_digest import code_digest
from sglang_contracts.contract.model import SURFACE_KINDS, Clause, Contract, Kind, variant
from sglang_contracts.contract.ranges import Range, sharp, version
from sglang_contracts.contract.signature import signature
from sglang_contracts.disk_cache import DiskCache
from sglang_contracts.surface.model import Function
from sglang_contracts.surface.spelling import Found, exists, look_up
from sglang_contracts.surface.surface import Surface
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.answers.memory import Dependents, Key
from sglang_contracts.verify.clauses.mining import coverage, read_or_called
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    ReleaseReport,
    Report,
    Severity,
    Suggestion,
    Verdict,
)

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog

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


class Facts:
    """What the surfaces answer to clauses, over releases in a row.

    An answer is worked out again only where a definition it stands on has changed.

    Args:
        catalog: All recorded releases.
        release: The one to begin with.
    """

    def __init__(self, catalog: Catalog, release: str) -> None:
        self.lens = Lens(catalog, release)
        self._holds: dict[tuple[str, ...], bool] = {}

    @property
    def release(self) -> str:
        """The release at hand."""
        return self.lens.release

    def move(self, release: str) -> frozenset[Key]:
        """Go on to another release.

        Returns:
            What answers stood on and is not what it was.
        """
        self._holds.clear()
        return self.lens.move(release)

    def expected(self, clause: Clause) -> bool:
        """Whether the clause's range says that the release has its subject."""
        known = self._holds.get(clause.sglang)
        if known is None:
            known = self._holds[clause.sglang] = clause.holds_in(self.release)
        return known

    def present(self, clause: Clause) -> bool:
        """Whether the release has the clause's subject, under any of its spellings."""
        return is_there(clause, self.lens)

    def any_value(self, clause: Clause) -> bool:
        """Whether the release has the flag, but does not say in its text which values it takes."""
        flag = clause.symbols[0].removeprefix("flag:").partition("(")[0]
        return self.lens.flag(flag) is not None and self.lens.flag_choices(flag) is None

    def parameters(self, clause: Clause) -> tuple[str, tuple[str, ...]] | None:
        """Name and canonical parameters of a clause's function; None where it is none."""
        found: tuple[str, tuple[str, ...]] | None = self.lens.once(
            ("parameters", clause.id), lambda: self._parameters(clause)
        )
        return found

    def has(self, spelling: str) -> bool:
        """Whether the release has something under this spelling."""
        found: bool = self.lens.once(("has", spelling), lambda: exists(self.lens, spelling))
        return found

    def _parameters(self, clause: Clause) -> tuple[str, tuple[str, ...]] | None:
        found = next(filter(None, map(self.lens.parse, clause.symbols)), None)
        if found is None or not isinstance(found.node, Function):
            return None
        return found.name, signature(found.node, found.owner is not None)


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
        ``checked`` (clause x release pairs answered), ``unproved`` (clauses that only a running
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
    with _helping(contracts, checked, catalog, releases) as help_:
        own = releases[: len(releases) - help_.taken]
        by_release = list(_walk(checked, catalog, own, progress))
        covered = help_.coverage()
        by_release += help_.findings()
    if progress:
        progress(len(releases), len(releases))
    by_id = {clause.id: clause for _, clause in checked}
    wrong = dict.fromkeys(each.clause for findings in by_release for each in findings)
    reports = [
        ReleaseReport(release, Verdict.BROKEN if found else Verdict.COMPATIBLE, tuple(found))
        for release, found in zip(releases, by_release, strict=True)
    ]
    proposals = propose([by_id[name] for name in wrong], catalog)
    report = Report(
        command="verify",
        releases=tuple(reports),
        facts={
            "clauses": len(checked),
            "releases": len(releases),
            "checked": len(checked) * len(releases),
            "unproved": sum(len(each.clauses) for each in contracts) - len(checked),
            "coverage": covered,
            "proposals": [msgspec.to_builtins(each) for each in proposals],
        },
    )
    _keep(key, report)
    return report


def _walk(
    checked: Sequence[tuple[Contract, Clause]],
    catalog: Catalog,
    releases: Sequence[str],
    progress: Progress | None = None,
) -> Iterator[list[Finding]]:
    """Findings of each release, in order."""
    if not releases:
        return
    answers = _Answers(checked, Facts(catalog, catalog.known(releases[0])))
    for done, release in enumerate(releases, 1):
        if done > 1:
            answers.move(catalog.known(release))
        yield answers.findings()
        if progress:
            progress(done, len(releases))


class _Answers:
    """What is wrong with each clause, over releases in a row.

    A clause is asked again only where its answer may be another: what it stands on changed, or
    one of the versions that its ranges name was reached.

    Args:
        checked: The clauses.
        facts: What the release to begin with answers to them.
    """

    def __init__(self, checked: Sequence[tuple[Contract, Clause]], facts: Facts) -> None:
        self._checked = checked
        self._facts = facts
        self._wrong: dict[int, Finding] = {}
        self._dependents: Dependents[int] = Dependents()
        self._bounds: dict[str, set[int]] = {}
        for number, (_, clause) in enumerate(checked):
            for bound in _versions(clause):
                self._bounds.setdefault(bound, set()).add(number)
        self._ask(range(len(checked)))

    def move(self, release: str) -> None:
        """Go on to another release."""
        ends = sorted((version(self._facts.release), version(release)))
        again = set(self._wrong)  # what is wrong says of which release
        again |= self._dependents.take(self._facts.move(release))
        for bound, numbers in self._bounds.items():
            if ends[0] <= version(bound) <= ends[1]:
                again |= numbers
        self._ask(sorted(again))

    def findings(self) -> list[Finding]:
        """What is wrong in the release at hand, in the clauses' order."""
        return [self._wrong[number] for number in sorted(self._wrong)]

    def _ask(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            contract, clause = self._checked[number]
            found, names = self._facts.lens.track(
                functools.partial(check_clause, contract, clause, self._facts)
            )
            self._wrong.pop(number, None)
            if found is not None:
                self._wrong[number] = found
            self._dependents.note(number, names)


def _versions(clause: Clause) -> set[str]:
    """Every version that a clause's ranges name."""
    ranges = [clause.sglang, *(each.sglang for each in clause.parameters)]
    ranges += [each.sglang for each in clause.replaced_by]
    return {bound for parts in ranges for bound in Range.of(parts).bounds()}


class _Help:
    """What a second process does meanwhile; without one, the same, when it is asked for."""

    def __init__(
        self,
        coverage: Callable[[], dict[str, list[int]]],
        findings: Callable[[], list[list[Finding]]],
        taken: int,
    ) -> None:
        self.coverage = coverage
        self.findings = findings
        self.taken = taken
        """How many of the last releases it answers for."""


@contextlib.contextmanager
def _helping(
    contracts: Sequence[Contract],
    checked: Sequence[tuple[Contract, Clause]],
    catalog: Catalog,
    releases: Sequence[str],
) -> Iterator[_Help]:
    """Share a long verification between two processes, where that can be had for nothing.

    Forked, the second process has contracts and catalog already; a spawned one would spend longer
    on reading them again than it saves.
    """
    import os

    few = len(checked) * len(releases) < _WORTH_SHARING
    if few or not hasattr(os, "fork") or (os.cpu_count() or 1) < 2:
        yield _Help(lambda: coverage(contracts, catalog, releases), lambda: [], 0)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    for release in releases:
        catalog.pack(release)  # opened once, before the fork
    taken = int(len(releases) * _SHARE)
    last = releases[len(releases) - taken :]
    _shared[:] = [lambda: list(_walk(checked, catalog, last))]
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            findings = pool.submit(_run_shared)
            yield _Help(lambda: coverage(contracts, catalog, releases), findings.result, taken)
    finally:
        _shared.clear()


_WORTH_SHARING = 100_000
_SHARE = 0.4
"""Of the releases, the newest, that the second process takes: they are larger; it starts later."""
_shared: list[Callable[[], list[list[Finding]]]] = []
"""Handed over by forking: a closure cannot be pickled."""


def _run_shared() -> list[list[Finding]]:
    return _shared[0]()


def check_clause(contract: Contract, clause: Clause, facts: Facts) -> Finding | None:
    """What is wrong with one clause in the release at hand; None: it holds, with sharp bounds."""
    expected, found = facts.expected(clause), facts.present(clause)
    if found != expected:
        if clause.kind is Kind.FLAG_VALUE and facts.any_value(clause):
            return None  # the text does not tell which values the flag takes; a live run does
        # A clause that may be left out still has sharp bounds: the name is there or it is not.
        return _bounds(contract, clause, facts.release, found)
    if found and clause.parameters:
        return _signature(contract, clause, facts)
    if not found and clause.replaced_by:
        return _replacement(contract, clause, facts)
    return None


def is_there(clause: Clause, surface: Surface) -> bool:
    """Whether a release has a clause's subject: :func:`presence` without its shape."""
    if clause.kind is Kind.OBLIGATION:
        return presence(clause, surface) is not None
    return any(exists(surface, spelling) for spelling in clause.symbols)


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


def propose(clauses: Sequence[Clause], catalog: Catalog) -> list[Proposal]:
    """The sharp range of each clause whose written one is another."""
    there: dict[str, dict[str, bool]] = {clause.id: {} for clause in clauses}
    if not clauses:
        return []
    facts = Facts(catalog, catalog.releases[0])
    # All clauses of a release together: one after the other, each would read every release anew.
    for release in catalog.releases:
        facts.move(release)
        for clause in clauses:
            there[clause.id][release] = facts.present(clause)
    proposals = (_proposal(clause, there[clause.id]) for clause in clauses)
    return [proposal for proposal in proposals if proposal is not None]


def _proposal(clause: Clause, there: dict[str, bool]) -> Proposal | None:
    if not any(there.values()):
        return Proposal(clause.id, clause.sglang, (), never=True)
    tight = sharp(there)
    written = Range.of(clause.sglang)
    if all(written.contains(release) == is_there for release, is_there in there.items()):
        return None
    return Proposal(clause.id, clause.sglang, tight)


def _where(contract: Contract, clause: Clause) -> tuple[Location, ...]:
    return (Location(f"contracts/{contract.file_of(clause)}", clause.line),)


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


def _signature(contract: Contract, clause: Clause, facts: Facts) -> Finding | None:
    stated = variant(clause.parameters, facts.release)
    actual = facts.parameters(clause) if stated is not None else None
    if stated is None or actual is None or actual[1] == stated:
        return None
    return Finding(
        rule="clause-signature",
        severity=Severity.ERROR,
        symbol=actual[0],
        locations=_where(contract, clause),
        role="clause",
        old=", ".join(stated),
        new=", ".join(actual[1]),
        detail=f"takes ({', '.join(actual[1])}), not ({', '.join(stated)})",
        clause=clause.id,
    )


def _replacement(contract: Contract, clause: Clause, facts: Facts) -> Finding | None:
    """What is said to stand in for it in this release must be there."""
    for each in clause.replaced_by:
        if not each.sglang or not each.applies(facts.release):
            continue
        if ":" in each.use and "(" not in each.use and not facts.has(each.use):
            return Finding(
                rule="clause-replacement",
                severity=Severity.ERROR,
                symbol=each.use,
                locations=_where(contract, clause),
                role="clause",
                detail=f"is said to replace {clause.name}, but is not in {facts.release}",
                clause=clause.id,
            )
    return None


# -- what was worked out once is kept: it depends on the recorded bytes and the contracts alone


_CACHE = DiskCache("verify", most=64)


def _key(contracts: Sequence[Contract], catalog: Catalog, releases: Sequence[str]) -> str:
    total = hashlib.blake2b(digest_size=16)
    total.update(code_digest().encode())
    for contract in contracts:
        total.update(msgspec.msgpack.encode(contract))
    for release in catalog.releases:
        total.update(catalog.pack(release).header.digest.encode())
    total.update("|".join(releases).encode())
    return total.hexdigest()


def _kept(key: str) -> Report | None:
    data = _CACHE.read(key)
    try:
        return None if data is None else msgspec.msgpack.decode(data, type=Report)
    except msgspec.MsgspecError:
        return None


def _keep(key: str, report: Report) -> None:
    _CACHE.write(key, msgspec.msgpack.encode(report))
