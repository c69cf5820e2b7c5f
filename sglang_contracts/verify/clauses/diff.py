"""What changed between two releases in what contracts speak of, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sglang_contracts.contract.model import Clause, Contract, Kind
from sglang_contracts.surface.spelling import look_up
from sglang_contracts.verify.clauses.mining import mine
from sglang_contracts.verify.clauses.verify_clauses import CHECKED, presence
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    ReleaseReport,
    Report,
    Severity,
    Suggestion,
    Verdict,
)
from sglang_contracts.verify.suggest.call_forms import said_by
from sglang_contracts.verify.suggest.replacements import Replacements

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog, Surface


def diff(
    contracts: Sequence[Contract],
    catalog: Catalog,
    old: str,
    new: str,
    *,
    symbols: Iterable[str] | None = None,
) -> Report:
    """What of the contracted interfaces differs between two releases.

    Args:
        contracts: Those whose clauses are compared.
        catalog: All recorded releases.
        old: A release.
        new: Another one; it may be the earlier.
        symbols: Compare these spellings instead (what a plugin uses).

    Returns:
        A report with one entry, ``new``: a finding for each clause (or symbol) that differs, of
        rules ``removed`` (error), ``changed`` (warning), ``added`` (note), ``behaviour-changed``
        (of the clause's own severity) and ``newly-expected`` (warning: upstream reads or calls it
        off a plugin's object since). ``facts`` has ``old``, ``new`` and ``compared``.
    """
    before, after = catalog.surface(old), catalog.surface(new)
    if symbols is not None:
        wanted = sorted(set(symbols))
        replacements = Replacements(catalog, said_by(contracts))
        findings = [
            each
            for name in wanted
            if (each := _symbol(name, before, after, replacements)) is not None
        ]
        return _report(old, new, findings, len(wanted))
    findings = []
    compared = 0
    for contract in contracts:
        for clause in contract.clauses:
            if clause.kind in CHECKED:
                compared += 1
                found = _clause(contract, clause, before, after)
            elif clause.kind is Kind.BEHAVIOUR:
                compared += 1
                found = _behaviour(contract, clause, old, new)
            else:
                continue
            if found is not None:
                findings.append(found)
    findings += newly_expected(contracts, before, after)
    return _report(old, new, findings, compared)


def newly_expected(contracts: Sequence[Contract], before: Surface, after: Surface) -> list[Finding]:
    """What a release has begun to read or call off a plugin's objects: obligations to be.

    Left out is what a class of the contract declares, and what a clause says already.
    """
    out = []
    for contract in contracts:
        if contract.provider == "sglang" or not contract.known_as:
            continue
        stated = {clause.name for clause in contract.clauses}
        declared: set[str] = set()
        for target in contract.targets:
            symbol = after.parse(target)
            if symbol is not None and symbol.kind == "class":
                declared.update(after.members(symbol))
        known = {each.name for each in mine(before, contract.known_as)}
        for each in mine(after, contract.known_as):
            if each.soft or each.name in known | declared | stated or each.name.startswith("__"):
                continue
            known.add(each.name)
            out.append(
                Finding(
                    rule="newly-expected",
                    severity=Severity.WARNING,
                    symbol=f"{contract.targets[0]}.{each.name}",
                    role="clause",
                    detail=f"is {'called' if each.called else 'read'} off {each.receiver} in "
                    + ", ".join(each.modules[:3]),
                    clause=contract.id,
                )
            )
    return out


def _clause(contract: Contract, clause: Clause, before: Surface, after: Surface) -> Finding | None:
    then, now = presence(clause, before), presence(clause, after)
    if then is None and now is None:
        return None
    name = clause.symbols[0] if clause.symbols else f"{contract.id}/{clause.name}"
    location = (Location(f"contracts/{contract.file_of(clause)}", clause.line),)
    if now is None:
        assert then is not None
        replacement = clause.replacement(after.release)
        return Finding(
            rule="removed",
            severity=Severity.ERROR,
            symbol=name,
            locations=location,
            role="clause",
            old=then.form,
            clause=clause.id,
            suggestion=Suggestion(replacement.use, "contract", replacement.note)
            if replacement
            else None,
        )
    if then is None:
        rule, severity, old = "added", Severity.NOTE, ""
    elif then.form != now.form and clause.kind is not Kind.OBLIGATION:
        rule, severity, old = "changed", Severity.WARNING, then.form
    else:
        return None
    return Finding(
        rule=rule,
        severity=severity,
        symbol=name,
        locations=location,
        role="clause",
        old=old,
        new=now.form,
        clause=clause.id,
    )


def _behaviour(contract: Contract, clause: Clause, old: str, new: str) -> Finding | None:
    if clause.holds_in(old) == clause.holds_in(new):
        return None
    symbol = clause.on.symbol if clause.on is not None else clause.id
    return Finding(
        rule=clause.rule or "behaviour-changed",
        severity=Severity(clause.severity or "warning"),
        symbol=symbol,
        locations=(Location(f"contracts/{contract.file_of(clause)}", clause.line),),
        role="clause",
        old=clause.was,
        new=clause.now,
        clause=clause.id,
        suggestion=Suggestion(clause.use, "contract") if clause.use else None,
    )


def _symbol(
    name: str, before: Surface, after: Surface, replacements: Replacements
) -> Finding | None:
    then, now = look_up(before, name), look_up(after, name)
    if (then is None and now is None) or (then and now and then.form == now.form):
        return None
    if now is None:
        rule, severity = "removed", Severity.ERROR
    elif then is None:
        rule, severity = "added", Severity.NOTE
    else:
        rule, severity = "changed", Severity.WARNING
    return Finding(
        rule=rule,
        severity=severity,
        symbol=name,
        role="use",
        old=then.form if then else "",
        new=now.form if now else "",
        suggestion=_instead(name, before, after, replacements) if now is None else None,
    )


def _instead(
    name: str, before: Surface, after: Surface, replacements: Replacements
) -> Suggestion | None:
    """What took the place of something that a plugin uses."""
    old, new = before.release, after.release
    kind, _, bare = name.partition(":")
    if kind == "env":
        return replacements.of_variable(bare, old, new)
    if kind == "flag":
        releases = replacements.catalog.releases
        return replacements.of_flag(bare, releases, releases.index(new))
    found = before.parse(name)
    if found is not None and found.owner is not None:
        return replacements.of_member(found, old, new)
    return replacements.of_symbol(name, found, old, new)


def _report(old: str, new: str, findings: list[Finding], compared: int) -> Report:
    order = {"error": 0, "warning": 1, "note": 2}
    findings.sort(key=lambda each: (order[each.severity.value], each.clause, each.symbol))
    verdict = Verdict.BROKEN if findings else Verdict.COMPATIBLE
    return Report(
        command="diff",
        releases=(ReleaseReport(new, verdict, tuple(findings)),),
        facts={"old": old, "new": new, "compared": compared},
    )
