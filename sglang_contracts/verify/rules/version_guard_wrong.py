"""Branches of version comparisons: releases that none takes, and branches that none leads to."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.records import Chain, File
from sglang_contracts.verify.findings.finding import (
    VERSION,
    Finding,
    Location,
    Severity,
    Silenced,
    with_changes,
)
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import Cause
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.silences.silence import Weight

GUARD_WRONG = Rule(
    id="guard-wrong",
    what="the guard around {name} is wrong here",
    fix="use {to}",
    dated=False,
    page="version_guard_wrong.toml",
    severity=Severity.ERROR,
    role="guard",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)

NO_BRANCH = "no branch is for {release}"
NO_BRANCH_BINDS = "no branch is for {release}, so that {names} is not bound"
NEVER_TAKEN = "no release takes the branch"
TAKEN_BEFORE = "no release takes the branch: those before it take all of its releases"
FOR_NO_RECORDED = "the branch is for no recorded release"
WRONG_WAY_ROUND = "{branch} lacks it, the other has it: the branches are the wrong way round"
TOO_EARLY = "{branch} starts too early: it is there from {release} on"
TOO_LONG = "{branch} goes on too long: it is there up to {release}"
OR = " or "
LACKS = "{branch} lacks it"
BRANCH_FOR, BRANCH_FOR_TO = "the branch for {first}", "the branch for {first} to {last}"
BRANCH_FROM, BRANCH_UP_TO = "the branch from {first} on", "the branch up to {last}"


_LONG_AGO, _SOME_DAY = "0.0.1", "999"
"""Releases before and beyond all that are recorded."""


def covered(
    judging: Judging, index: int, condition: int, positive: bool = True
) -> tuple[bool, ...]:
    """Which releases a version comparison leads to a branch; empty: it is none.

    One that is joined with another test is none: the version alone does not decide.
    """
    key = (index, condition)
    if key not in judging.coverage:
        judging.coverage[key] = judging.evaluator.version_ranges.covered(
            index, condition, judging.releases
        )
    answers = judging.coverage[key]
    return () if answers is None or None in answers else tuple(each is positive for each in answers)


def chains_of(judging: Judging) -> list[tuple[int, File, Chain, list[tuple[bool, ...]]]]:
    """Chains of version comparisons: file, its record, the chain, the releases of each branch."""
    if judging.chains is None:
        judging.chains = [
            (number, file, chain, coverage)
            for number, file in enumerate(judging.files)
            for chain in file.chains
            if (coverage := coverage_of_chain(judging, number, chain))
        ]
    return judging.chains


def coverage_of_chain(judging: Judging, index: int, chain: Chain) -> list[tuple[bool, ...]]:
    """Which releases each branch of a chain is for; empty where something else decides."""
    found = [covered(judging, index, each) for each in chain.conditions]
    if not all(found):
        return []
    runs = around(judging, index, chain.guard)
    if not any(runs):
        return []
    return [tuple(a and b for a, b in zip(each, runs, strict=True)) for each in found]


def around(judging: Judging, index: int, guard: int) -> list[bool]:
    """In which releases what stands under a guard may run, as far as versions tell."""
    runs = [True] * len(judging.releases)
    file = judging.files[index]
    while guard:
        record = file.guards[guard]
        if record.kind == "if":
            taken = covered(judging, index, record.condition, record.positive)
            if taken:
                runs = [a and b for a, b in zip(runs, taken, strict=True)]
        elif record.kind in ("handler", "typing"):
            return [False] * len(judging.releases)
        guard = record.parent
    return runs


def judge_branches(judging: Judging, at: int) -> list[Finding]:
    """What is wrong with branches in one release (by index)."""
    found = []
    for index, file, chain, coverage in chains_of(judging):
        gap = judge_gap(
            judging, index, file, chain, coverage, around(judging, index, chain.guard), at
        )
        if gap is not None:
            found.append(gap)
        found += judge_never_taken(judging, index, file, chain, coverage, at)
    return found


def is_total(judging: Judging, index: int, chain: Chain) -> bool:
    """Whether a chain is meant for all releases: it reaches back and ahead without end."""
    evaluator = judging.evaluator
    return all(
        any(evaluator.version_ranges.supposing(end, index, each) for each in chain.conditions)
        for end in (_LONG_AGO, _SOME_DAY)
    )


def judge_gap(
    judging: Judging,
    index: int,
    file: File,
    chain: Chain,
    coverage: Sequence[Sequence[bool]],
    around: Sequence[bool],
    at: int,
) -> Finding | None:
    """A release between those that have a branch, and has none itself."""
    if chain.closed or len(coverage) < 2 or not around[at]:
        return None
    taken = [any(each[one] for each in coverage) for one in range(len(judging.releases))]
    if taken[at] or not any(taken[:at]) or not any(taken[at:]):
        return None
    first = at
    while not taken[first - 1]:
        first -= 1
    names = OR.join(chain.binds[:3])
    fails = bool(names) and not chain.bound
    if not fails and (names or not is_total(judging, index, chain)):
        return None  # cases apart from a rule that stands before them
    return Finding(
        GUARD_WRONG.id,
        Severity.ERROR if fails else Severity.WARNING,
        VERSION,
        (Location(file.path, chain.line, chain.column),),
        last_ok=judging.releases[first - 1],
        first_broken=judging.releases[first],
        role="guard",
        detail=(NO_BRANCH_BINDS if fails else NO_BRANCH).format(
            release=judging.releases[at], names=names
        ),
    )


def judge_never_taken(
    judging: Judging,
    index: int,
    file: File,
    chain: Chain,
    coverage: Sequence[Sequence[bool]],
    at: int,
) -> list[Finding]:
    """Branches that no release takes."""
    found = []
    earlier = [False] * len(judging.releases)
    for number, own in enumerate(coverage):
        left = [a and not b for a, b in zip(own, earlier, strict=True)]
        earlier = [a or b for a, b in zip(own, earlier, strict=True)]
        if any(left):
            continue
        weight, detail = Weight(Severity.WARNING), NEVER_TAKEN
        if any(own):
            if not own[at]:
                continue
            detail = TAKEN_BEFORE
        else:
            evaluator = judging.evaluator
            condition = chain.conditions[number]
            ranges = evaluator.version_ranges
            if reasons.TO_COME.holds(bool(ranges.supposing(_SOME_DAY, index, condition))):
                place = Location(file.path, chain.lines[number])
                judging.silenced.append(Silenced(reasons.TO_COME.id, VERSION, place))
                continue
            if reasons.LONG_PAST.holds(bool(ranges.supposing(_LONG_AGO, index, condition))):
                weight = weight.at_most(Severity.NOTE, reasons.LONG_PAST)
                detail = FOR_NO_RECORDED
        line = chain.lines[number]
        found.append(
            Finding(
                GUARD_WRONG.id,
                weight.severity,
                VERSION,
                (Location(file.path, line),),
                role="guard",
                detail=detail,
                softened=weight.softened,
            )
        )
    return found


def with_wrong_guard(judging: Judging, case: Case, made: Finding) -> Finding:
    """A break in a branch that a version comparison chose, right where it draws the line."""
    if made.severity is Severity.NOTE or case.check.kind != "use":
        return made
    index = case.check.file
    file = judging.files[index]
    guard = file.uses[case.check.number].guard
    while guard:
        record = file.guards[guard]
        if record.kind == "if":
            taken = covered(judging, index, record.condition, record.positive)
            wrong = taken and drawn_wrong(judging, case, taken)
            if wrong:
                return with_changes(made, rule=GUARD_WRONG.id, detail=wrong)
        guard = record.parent
    return made


def drawn_wrong(judging: Judging, case: Case, covered: Sequence[bool]) -> str:
    """What is wrong with a branch's bounds; empty where they are not to blame for a break.

    They are where the use breaks from the present release up to the bound without a gap.
    """
    if not covered[case.at]:
        return ""
    low = high = case.at
    while low > 0 and covered[low - 1]:
        low -= 1
    while high < len(covered) - 1 and covered[high + 1]:
        high += 1
    broken = [judging.timeline.entry(case.number, at).broken for at in range(low, high + 1)]
    before, after = broken[: case.at - low + 1], broken[case.at - low :]
    there = [judging.timeline.entry(case.number, at).fine for at in range(len(covered))]
    named = branch_name(judging, covered)
    if all(broken) and not any(t for t, c in zip(there, covered, strict=True) if c):
        if any(there):
            return WRONG_WAY_ROUND.format(branch=named)
        return ""
    if low > 0 and all(before) and not all(after):
        upto = next(at for at in range(case.at, high + 1) if not broken[at - low])
        return TOO_EARLY.format(branch=named, release=judging.releases[upto])
    if high < len(covered) - 1 and all(after) and not all(before):
        last = next(at for at in range(case.at, low - 1, -1) if not broken[at - low])
        return TOO_LONG.format(branch=named, release=judging.releases[last])
    if (low > 0 or high < len(covered) - 1) and all(broken):
        return LACKS.format(branch=named)
    return ""


def branch_name(judging: Judging, covered: Sequence[bool]) -> str:
    """A branch by the releases that take it."""
    taken = [at for at, each in enumerate(covered) if each]
    first, last = judging.releases[taken[0]], judging.releases[taken[-1]]
    if len(taken) == 1:
        return BRANCH_FOR.format(first=first)
    if taken[-1] == len(covered) - 1:
        return BRANCH_FROM.format(first=first)
    if taken[0] == 0:
        return BRANCH_UP_TO.format(last=last)
    return BRANCH_FOR_TO.format(first=first, last=last)


CAUSE = Cause(
    detects={},  # branches are looked at over all releases at once
    failures=(),
    rules=(GUARD_WRONG,),
)
